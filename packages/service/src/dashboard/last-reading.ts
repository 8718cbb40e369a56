import type { ReadinessStates } from '../http/index.js';

/** Caches an overview's last data from the database, to describe a database that fails. */
export class LastReading<Reading> {
  #last: Reading;

  /** @param beforeFirst returned until the first reading succeeds. */
  constructor(beforeFirst: Reading) {
    this.#last = beforeFirst;
  }

  /** Calls `read`. While the readiness check `database` fails, returns the last reading instead. */
  async read(states: ReadinessStates, read: () => Promise<Reading>): Promise<Reading> {
    if (typeof states.database !== 'string') this.#last = await read();
    return this.#last;
  }
}
