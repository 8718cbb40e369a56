/**
 * Serializes work per key, FIFO. A user who sends many requests at once delays only their own requests, and takes only
 * one slot in a batch that all users share.
 */
export class OneAtATime {
  readonly #last = new Map<number, Promise<unknown>>();

  /** Runs `work` after earlier work for the same key has ended. Resolves or rejects as `work` does. */
  async run<Result>(key: number, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const own = before === undefined ? work() : before.then(work, work);
    this.#last.set(key, own);
    try {
      return await own;
    } finally {
      if (this.#last.get(key) === own) this.#last.delete(key);
    }
  }
}
