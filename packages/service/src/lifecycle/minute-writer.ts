import type { Log } from '../logging/create-logger.js';
import { TroubleLog } from '../logging/trouble-log.js';
import { answerWithin } from './answer-within.js';

export interface MinuteWriterOptions {
  readonly log: Log;
  /** Writes what was counted since the last call. If it rejects, the counts are lost. */
  readonly write: () => Promise<void>;
  /** Log messages: a warning when writes start to fail, and an info message when they succeed again. */
  readonly sentences: { readonly failing: string; readonly recovered: string };
}

const intervalMilliseconds = 60_000;

/** Calls `write` once a minute, never concurrently, and logs one warning per outage. */
export class MinuteWriter {
  readonly #options: MinuteWriterOptions;
  readonly #troubleLog = new TroubleLog();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(options: MinuteWriterOptions) {
    this.#options = options;
  }

  start(): void {
    this.#timer = setInterval(() => void this.flush(), intervalMilliseconds).unref();
  }

  /** Stops the timer and writes one last time. Waits at most `deadlineMilliseconds` for that write. */
  async stop(deadlineMilliseconds: number): Promise<void> {
    clearInterval(this.#timer);
    await answerWithin(deadlineMilliseconds, this.flush(), undefined);
  }

  /** Writes now, or after the write in progress. Never rejects. */
  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#flush());
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const { log, write, sentences } = this.#options;
    try {
      await write();
      this.#troubleLog.end(() => log.info(sentences.recovered));
    } catch (err) {
      this.#troubleLog.begin('away', () => log.warn({ err }, sentences.failing));
    }
  }
}
