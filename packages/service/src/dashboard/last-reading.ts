import type { ReadinessStates } from '../http/index.js';
import { answerWithin } from '../lifecycle/answer-within.js';

// Long, because counting the rows of a large database takes seconds.
const patienceMilliseconds = 10_000;

/** Caches an overview's last data from the database, to describe a database that fails. */
export class LastReading<Reading> {
  #last: Reading;

  /** `beforeFirst` stands in until the database has been read. */
  constructor(beforeFirst: Reading) {
    this.#last = beforeFirst;
  }

  /**
   * Calls `read`. Returns the last reading instead while the readiness check `database` fails, and if the database fails
   * after its check, or takes longer than ten seconds; a late reading is the last one from then on.
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
