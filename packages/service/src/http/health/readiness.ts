import { answerWithin } from '../../lifecycle/answer-within.js';
import type { Log } from '../../logging/create-logger.js';
import { TroubleLog } from '../../logging/trouble-log.js';
import type { CheckResult } from '../../metrics/metrics.js';

/**
 * A problem that does not make the process unready, because every process would have the same problem. Example:
 * rejected credentials of one app.
 */
export interface ReadinessWarning {
  /** A sentence that says what is wrong. */
  readonly warning: string;
}

/**
 * Readiness checks by name. A check returns `undefined` if it passes, a warning if it passes with a problem, and a
 * sentence if it fails. The sentence says why the process should not receive requests. A check that takes longer than
 * three seconds fails.
 */
export type ReadinessChecks = Readonly<Record<string, () => Promise<string | ReadinessWarning | undefined>>>;

/** Result of each check by name. `undefined` means that the check passed. */
export type ReadinessStates = Readonly<Record<string, string | ReadinessWarning | undefined>>;

const timeoutMilliseconds = 3000;
const watchMilliseconds = 60_000;
const late = `no answer within ${timeoutMilliseconds / 1000} seconds`;

/** Runs readiness checks, and logs each change since the last run. */
export class Readiness {
  readonly #checks: ReadinessChecks;
  readonly #log: Log;
  readonly #troubleLogs: Readonly<Record<string, TroubleLog>>;
  #running: Promise<ReadinessStates> | undefined;
  #isDraining = false;

  constructor(checks: ReadinessChecks, log: Log) {
    this.#checks = checks;
    this.#troubleLogs = Object.fromEntries(Object.keys(checks).map((check) => [check, new TroubleLog()]));
    this.#log = log;
  }

  /** Whether the process is closing, or draining before it closes. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Marks the process as draining. The process then stays unready until it exits. */
  beginDraining(): void {
    this.#isDraining = true;
  }

  /** Runs the checks. Single-flight: concurrent calls share one run. */
  async look(): Promise<ReadinessStates> {
    this.#running ??= this.#look().finally(() => {
      this.#running = undefined;
    });
    const states = await this.#running;
    return this.#isDraining ? { process: 'closing', ...states } : states;
  }

  /**
   * Runs the checks every minute, so that changes are logged even without probes. Returns a function that stops the
   * timer.
   */
  watch(): () => void {
    const log = this.#log;
    const timer = setInterval(() => {
      this.look().catch((err: unknown) => log.error({ err }, 'readiness could not be checked'));
    }, watchMilliseconds);
    timer.unref();
    return () => clearInterval(timer);
  }

  async #look(): Promise<ReadinessStates> {
    const states = await Promise.all(
      Object.entries(this.#checks).map(async ([check, isWell]) => {
        const trouble = await answerWithin(timeoutMilliseconds, isWell(), late);
        this.#logChange(check, trouble);
        return [check, trouble] as const;
      }),
    );
    return Object.fromEntries(states);
  }

  #logChange(check: string, trouble: string | ReadinessWarning | undefined): void {
    const troubleLog = this.#troubleLogs[check];
    if (trouble === undefined) {
      troubleLog?.end(() => this.#log.info({ check }, 'ready again'));
    } else {
      const sentence =
        typeof trouble === 'string' ? `not ready: ${trouble}` : `ready, but ${trouble.warning}`;
      troubleLog?.begin(sentence, () => this.#log.warn({ check }, sentence));
    }
  }
}

/**
 * Returns the HTTP status and JSON body of a readiness response. A passed check is `ok`, or with a warning `warning:
 * <sentence>`. Public responses omit the sentences, because they may contain paths or keys.
 */
export function readinessAnswer(
  states: ReadinessStates,
  { isPublic }: { readonly isPublic: boolean },
): { readonly httpStatus: 200 | 503; readonly body: string } {
  const ready = Object.values(states).every((state) => typeof state !== 'string');
  const shown = Object.entries(states).map(([name, state]) => [name, describe(state, isPublic)]);
  const body = `${JSON.stringify({ ready, checks: Object.fromEntries(shown) })}\n`;
  return { httpStatus: ready ? 200 : 503, body };
}

/** Returns the result of each check as one word, without its sentence. */
export function checkResults(states: ReadinessStates): Record<string, CheckResult> {
  const results = Object.entries(states).map(([check, state]) => [check, resultOf(state)] as const);
  return Object.fromEntries(results);
}

function resultOf(state: string | ReadinessWarning | undefined): CheckResult {
  if (state === undefined) return 'passed';
  return typeof state === 'string' ? 'failed' : 'warning';
}

function describe(state: string | ReadinessWarning | undefined, isPublic: boolean): string {
  if (state === undefined) return 'ok';
  if (typeof state === 'string') return isPublic ? 'not ok' : state;
  return isPublic ? 'warning' : `warning: ${state.warning}`;
}
