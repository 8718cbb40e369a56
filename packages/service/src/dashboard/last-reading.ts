import type { ReadinessStates } from '../http/index.js';
import { answerWithin } from '../lifecycle/answer-within.js';

// Counting the rows of a large database takes seconds.
const patienceMilliseconds = 10_000;

/** Caches the last overview data read from the database, to show it while the database is unavailable. */
export class LastReading<Reading> {
  #last: Reading;

  /** `beforeFirst` is returned until the database has been read for the first time. */
  constructor(beforeFirst: Reading) {
    this.#last = beforeFirst;
  }

  /**
   * Calls `read` and returns its result. If the `database` readiness check fails, or if `read` fails or takes longer
   * than ten seconds, returns the last reading instead. A result that arrives late is kept for the next call.
   */
  async read(states: ReadinessStates, read: () => Promise<Reading>): Promise<Reading> {
    if (typeof states.database === 'string') return this.#last;
    try {
      await answerWithin(patienceMilliseconds, this.#readNow(read), undefined);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'DATABASE_UNAVAILABLE') throw error;
    }
    return this.#last;
  }

  async #readNow(read: () => Promise<Reading>): Promise<void> {
    this.#last = await read();
  }
}
