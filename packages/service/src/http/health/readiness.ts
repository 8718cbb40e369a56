import { answerWithin } from '../../lifecycle/answer-within.js';
import type { Log } from '../../logging/create-logger.js';
import { TroubleLog } from '../../logging/trouble-log.js';

/**
 * Readiness checks by name. Each returns `undefined` if it passes, or a sentence that says what is wrong. A check fails if
 * it takes longer than three seconds.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | undefined>>>;

const timeoutMilliseconds = 3000;
const late = `no answer within ${timeoutMilliseconds / 1000} seconds`;

/** Runs readiness checks, and logs each change since the last run. */
export class Readiness {
  readonly #checks: ReadinessChecks;
  readonly #log: Log;
  readonly #troubleLogs: Readonly<Record<string, TroubleLog>>;
  #running: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(checks: ReadinessChecks, log: Log) {
    this.#checks = checks;
    this.#troubleLogs = Object.fromEntries(Object.keys(checks).map((check) => [check, new TroubleLog()]));
    this.#log = log;
  }

  /** Returns `ok` or the failure's sentence for each check. Single-flight: concurrent calls share one run. */
  look(): Promise<Readonly<Record<string, string>>> {
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #look(): Promise<Readonly<Record<string, string>>> {
    const states = await Promise.all(
      Object.entries(this.#checks).map(async ([check, isWell]) => {
        const trouble = await answerWithin(timeoutMilliseconds, isWell(), late);
        this.#logChange(check, trouble);
        return [check, trouble ?? 'ok'] as const;
      }),
    );
    return Object.fromEntries(states);
  }

  #logChange(check: string, trouble: string | undefined): void {
    const troubleLog = this.#troubleLogs[check];
    if (trouble === undefined) troubleLog?.end(() => this.#log.info({ check }, 'ready again'));
    else troubleLog?.begin(trouble, () => this.#log.warn({ check }, `not ready: ${trouble}`));
  }
}

/** The readiness answer: HTTP status and JSON body. A public one hides the sentences, which may name paths or keys. */
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
