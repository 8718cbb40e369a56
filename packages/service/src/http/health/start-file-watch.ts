import type { Gauge } from 'prom-client';
import { ConfigurationError } from '../../config/configuration-error.js';
import type { StartCheck } from '../../config/start-check.js';
import { answerWithin } from '../../lifecycle/answer-within.js';
import type { Metrics } from '../../metrics/metrics.js';
import type { ReadinessWarning } from './readiness.js';

export interface StartFileWatchOptions {
  readonly checks: readonly StartCheck[];
  /** Checks that are already reported by another readiness check. Their failures appear only in the metric. */
  readonly reportedElsewhere?: readonly StartCheck[];
  readonly metrics: Metrics;
  /** Monotonic clock in milliseconds. */
  readonly monotonic?: () => number;
}

const intervalMilliseconds = 60_000;
const patienceMilliseconds = 1000;

/**
 * Readiness check for the files that the process needs the next time it starts. Without it, a running process would not
 * notice a missing file. Reads the files at most once a minute.
 */
export class StartFileWatch {
  readonly #options: StartFileWatchOptions;
  readonly #gauge: Gauge<'file'>;
  readonly #monotonic: () => number;
  /** The message for each failed check, keyed by check name. */
  readonly #problems = new Map<string, string>();
  /**
   * When the files were last read, in monotonic milliseconds. Initially the startup time, because all files are read at
   * startup.
   */
  #lookedAt: number;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: StartFileWatchOptions) {
    this.#options = options;
    this.#monotonic = options.monotonic ?? (() => performance.now());
    this.#lookedAt = this.#monotonic();
    this.#gauge = options.metrics.gauge(
      'waxwing_start_problem',
      '1 while the next start would fail because of this file, which the process has read before',
      ['file'],
    );
    for (const { name } of this.#all) this.#gauge.set({ file: name }, 0);
  }

  /** Resolves to a warning that says why the next startup would fail and what to do, or to `undefined`. */
  async look(): Promise<ReadinessWarning | undefined> {
    const now = this.#monotonic();
    if (now - this.#lookedAt >= intervalMilliseconds) {
      this.#lookedAt = now;
      this.#reading = this.#readAll();
    }
    // Waits only briefly, because a file system that hangs must not make the process unready.
    await answerWithin(patienceMilliseconds, this.#reading, undefined);
    const sentences = this.#options.checks.flatMap(({ name }) => this.#problems.get(name) ?? []);
    if (sentences.length === 0) return undefined;
    return { warning: `the next start would fail: ${[...new Set(sentences)].join(' ')}` };
  }

  async #readAll(): Promise<void> {
    for (const check of this.#all) await this.#run(check);
  }

  get #all(): readonly StartCheck[] {
    const { checks, reportedElsewhere = [] } = this.#options;
    return [...checks, ...reportedElsewhere];
  }

  async #run({ name, check }: StartCheck): Promise<void> {
    try {
      await check();
      this.#problems.delete(name);
    } catch (error) {
      // Other errors, such as an unreachable database, are not related to the files.
      if (!(error instanceof ConfigurationError)) return;
      this.#problems.set(name, error.problems.join(' '));
    }
    this.#gauge.set({ file: name }, this.#problems.has(name) ? 1 : 0);
  }
}
