/**
 * Does work that has the same key one after the other, in the order in which it came; so a user who asks much at once
 * waits for itself, and takes one place among what all users have written together.
 */
export class OneAtATime {
  readonly #last = new Map<number, Promise<unknown>>();

  /** What `work` resolves or rejects with. */
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
