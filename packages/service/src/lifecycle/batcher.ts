import { atEndOfTick } from './end-of-tick.js';

interface Pending<Item, Result> {
  readonly item: Item;
  resolve(result: Result): void;
  reject(reason: unknown): void;
}

/**
 * Batches the items that are added in one event-loop tick (a DataLoader without the cache). `runBatch` returns one result
 * for each item, in order. If it rejects, every item of the batch is rejected with the same reason.
 */
export class Batcher<Item, Result> {
  readonly #runBatch: (items: readonly Item[]) => Promise<readonly Result[]>;
  #pending: Pending<Item, Result>[] = [];

  constructor(runBatch: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#runBatch = runBatch;
  }

  /** Adds an item to the batch of this tick, and returns its result. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#pending.push({ item, resolve, reject });
      if (this.#pending.length === 1) atEndOfTick(() => void this.#dispatch());
    });
  }

  async #dispatch(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    try {
      const results = await this.#runBatch(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('a batch must have one result for each item');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
