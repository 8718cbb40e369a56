import type { Kysely } from 'kysely';
import type { Write, WriteTransaction } from './transaction.js';

interface Waiting<Tables> {
  readonly write: Write<Tables, unknown>;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

const maximumWritesPerCommit = 256;

/**
 * Commits the writes that arrive while another commit runs, or within one turn of the event loop, together: the cost
 * of a durable commit is shared by all of them. A write that throws fails alone; the others are done again without it.
 */
export class GroupCommit<Tables> {
  readonly #db: Kysely<Tables>;
  #waiting: Waiting<Tables>[] = [];
  #running = false;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Resolves with the write's result once it is committed. Rejects with what the write threw; nothing is changed then. */
  run<Result>(write: Write<Tables, Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ write, resolve: resolve as (result: unknown) => void, reject });
      if (!this.#running) {
        this.#running = true;
        setImmediate(() => void this.#commitAll());
      }
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, maximumWritesPerCommit);
      await this.#commitGroup(group);
    }
    this.#running = false;
  }

  async #commitGroup(group: readonly Waiting<Tables>[]): Promise<void> {
    let committed: { results: unknown[]; actions: (() => void)[] };
    try {
      committed = await this.#commit(group.map(({ write }) => write));
    } catch (error) {
      const [only] = group;
      if (group.length === 1 && only !== undefined) return only.reject(error);
      for (const waiting of group) await this.#commitGroup([waiting]);
      return;
    }
    for (const action of committed.actions) action();
    group.forEach(({ resolve }, index) => {
      resolve(committed.results[index]);
    });
  }

  async #commit(
    writes: readonly Write<Tables, unknown>[],
  ): Promise<{ results: unknown[]; actions: (() => void)[] }> {
    const actions: (() => void)[] = [];
    const results = await this.#db.transaction().execute(async (db) => {
      const transaction: WriteTransaction<Tables> = {
        db,
        afterCommit: (action) => void actions.push(action),
      };
      const results: unknown[] = [];
      for (const write of writes) results.push(await write(transaction));
      return results;
    });
    return { results, actions };
  }
}
