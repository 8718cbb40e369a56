import type { ReadinessStates } from '../http/index.js';
import { answerWithin } from '../lifecycle/answer-within.js';

// Long, because counting the rows of a large database takes seconds.
const patienceMilliseconds = 10_000;

/** Caches the last data that an overview read from the database, to show while the database fails. */
export class LastReading<Reading> {
  #last: Reading;

  /** `beforeFirst` is returned until the database has been read. */
  constructor(beforeFirst: Reading) {
    this.#last = beforeFirst;
  }

  /**
   * Calls `read` and returns its result. Returns the last reading instead if the readiness check `database` fails, or
   * if reading fails or takes longer than ten seconds. A reading that finishes late is kept for the next call.
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
