import { answerWithin } from '../../lifecycle/answer-within.js';
import type { Log } from '../../logging/create-logger.js';
import { TroubleLog } from '../../logging/trouble-log.js';

/**
 * What must be well for a process to get requests: each check answers `undefined`, or a sentence that says what is
 * wrong; one that does not answer within three seconds is not well.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;

const timeoutMilliseconds = 3000;
const late = `no answer within ${timeoutMilliseconds / 1000} seconds`;

/** Looks whether all checks are well, and writes to the log what changed since it looked last. */
export class Readiness {
  readonly #checks: ReadinessChecks;
  readonly #log: Log;
  readonly #troubleLogs: Readonly<Record<string, TroubleLog>>;
  #underWay: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(checks: ReadinessChecks, log: Log) {
    this.#checks = checks;
    this.#troubleLogs = Object.fromEntries(Object.keys(checks).map((check) => [check, new TroubleLog()]));
    this.#log = log;
  }

  /** By name of the check `ok`, or the sentence that says what is wrong. Who asks meanwhile gets the same answer. */
  look(): Promise<Readonly<Record<string, string>>> {
    this.#underWay ??= this.#look().finally(() => {
      this.#underWay = undefined;
    });
    return this.#underWay;
  }

  async #look(): Promise<Readonly<Record<string, string>>> {
    const states = await Promise.all(
      Object.entries(this.#checks).map(async ([check, isWell]) => {
        const trouble = await answerWithin(timeoutMilliseconds, isWell(), late);
        this.#tell(check, trouble);
        return [check, trouble ?? 'ok'] as const;
      }),
    );
    return Object.fromEntries(states);
  }

  #tell(check: string, trouble: string | undefined): void {
    const troubleLog = this.#troubleLogs[check];
    if (trouble === undefined) troubleLog?.end(() => this.#log.info({ check }, 'ready again'));
    else troubleLog?.begin(trouble, () => this.#log.warn({ check }, `not ready: ${trouble}`));
  }
}

/** The answer to who asks for readiness: HTTP status and JSON. Only on doors of one's own does it hold the sentences. */
export function readinessAnswer(
  states: Readonly<Record<string, string>>,
  { isPublic }: { readonly isPublic: boolean },
): { readonly httpStatus: 200 | 503; readonly body: string } {
  const ready = Object.values(states).every((state) => state === 'ok');
  const shown = Object.entries(states).map(([name, state]) => [
    name,
    state === 'ok' || !isPublic ? state : 'not ok',
  ]);
  const body = `${JSON.stringify({ ready, checks: Object.fromEntries(shown) })}\n`;
  return { httpStatus: ready ? 200 : 503, body };
}
