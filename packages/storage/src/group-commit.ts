import { atEndOfTick } from '@waxwing/service/lifecycle';
import type { Kysely } from 'kysely';
import { DatabaseUnavailableError } from './database-unavailable-error.js';
import { type RepeatConflictsOptions, repeatConflicts } from './repeat-conflicts.js';
import { letRunAtOnce, type RunAtOnce } from './run-at-once.js';
import type { Write, WriteTransaction } from './transaction.js';

interface Waiting<Tables> {
  readonly write: Write<Tables, unknown>;
  readonly isGathered: boolean;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

interface Committed {
  readonly results: readonly unknown[];
  readonly actions: readonly (() => void)[];
}

export interface GroupCommitOptions extends RepeatConflictsOptions {
  /** How many transactions may be in flight at once. */
  readonly lanes: number;
  /** Runs queries of the transaction under way, where there is one at a time. */
  readonly runAtOnce?: RunAtOnce | undefined;
  /** Told of an action after a commit that threw. */
  onActionError(error: unknown): void;
}

const maximumWritesPerCommit = 256;
// Fewer than this are not worth splitting over several transactions.
const minimumShare = 32;
// A commit takes about as long; whoever waits for one must not wait for many others instead.
const mostGatheringMilliseconds = 10;
// A group in which more writes fail than this is not worth keeping together.
const maximumCulpritsPerGroup = 3;

/**
 * Commits the writes together that arrive while another commit runs, or in turns of the event loop that follow each other:
 * the cost of a durable commit is shared by all of them. A write that throws fails alone; the others are done again
 * without it.
 */
export class GroupCommit<Tables> {
  readonly #db: Kysely<Tables>;
  readonly #options: GroupCommitOptions;
  #waiting: Waiting<Tables>[] = [];
  #busyLanes = 0;
  #lastAlone: Promise<void> = Promise.resolve();

  constructor(db: Kysely<Tables>, options: GroupCommitOptions) {
    this.#db = db;
    this.#options = options;
  }

  /**
   * Resolves with the write's result once it is committed. Rejects with what the write threw; nothing is changed then.
   * One that `isGathered` holds what a whole turn of the event loop brought, and begins at once where no other is under way.
   * @throws DatabaseUnavailableError when the database does not answer.
   */
  run<Result>(write: Write<Tables, Result>, isGathered = false): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#waiting.push({ write, isGathered, resolve: resolve as (result: unknown) => void, reject });
      if (this.#busyLanes === this.#options.lanes) return;
      this.#busyLanes++;
      if (isGathered) queueMicrotask(() => void this.#commitAll());
      else atEndOfTick(() => void this.#commitAll());
    });
  }

  /**
   * Commits a write that takes long in a transaction of its own, one after another; writes of {@link run} go on beside it
   * where the database allows that. Resolves and rejects as `run` does.
   */
  runAlone<Result>(write: Write<Tables, Result>): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      const waiting = { write, isGathered: true, resolve: resolve as (result: unknown) => void, reject };
      this.#lastAlone = this.#lastAlone.then(() => this.#commitAlone(waiting));
    });
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const share = Math.max(minimumShare, Math.ceil(this.#waiting.length / this.#options.lanes));
      const group = this.#waiting.splice(0, Math.min(share, maximumWritesPerCommit));
      await this.#commitGroup(group);
      await this.#gather();
    }
    this.#busyLanes--;
  }

  /**
   * Waits as long as each turn of the event loop, which a commit may have held up, brings more to commit, up to what one
   * takes, but not for long; and for nothing where all that waits was gathered already.
   */
  async #gather(): Promise<void> {
    const enough = this.#options.lanes === 1 ? maximumWritesPerCommit : minimumShare;
    const until = performance.now() + mostGatheringMilliseconds;
    for (let before = -1; before < this.#waiting.length && this.#waiting.length < enough; ) {
      if (performance.now() > until) return;
      if (this.#waiting.length > 0 && this.#waiting.every(({ isGathered }) => isGathered)) return;
      before = this.#waiting.length;
      await new Promise<void>(atEndOfTick);
    }
  }

  async #commitGroup(group: readonly Waiting<Tables>[]): Promise<void> {
    let rest = group;
    for (let culprits = 0; rest.length > 1 && culprits < maximumCulpritsPerGroup; culprits++) {
      const failed = await this.#tryTogether(rest);
      if (failed === 'settled') return;
      if (failed === 'unknown') break;
      const culprit = rest[failed];
      rest = rest.filter((waiting) => waiting !== culprit);
      // It may have failed only for what the others did: alone, the failure is its own.
      if (culprit !== undefined) await this.#commitAlone(culprit);
    }
    for (const waiting of rest) await this.#commitAlone(waiting);
  }

  /** The index of the write that failed, `unknown` when none of them can be blamed, or `settled`. */
  async #tryTogether(group: readonly Waiting<Tables>[]): Promise<number | 'unknown' | 'settled'> {
    const progress = { index: -1 };
    try {
      this.#settle(group, await this.#commit(group, progress));
      return 'settled';
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) {
        for (const { reject } of group) reject(error);
        return 'settled';
      }
      return progress.index === -1 || this.#options.isConflict(error) ? 'unknown' : progress.index;
    }
  }

  async #commitAlone(waiting: Waiting<Tables>): Promise<void> {
    const commit = () => this.#commit([waiting], { index: -1 });
    try {
      this.#settle([waiting], await repeatConflicts(commit, this.#options));
    } catch (error) {
      waiting.reject(error);
    }
  }

  #settle(group: readonly Waiting<Tables>[], { results, actions }: Committed): void {
    for (const action of actions) {
      try {
        action();
      } catch (error) {
        this.#options.onActionError(error);
      }
    }
    group.forEach(({ resolve }, index) => {
      resolve(results[index]);
    });
  }

  /** `progress.index` is that of the write under way; -1 before the first and after the last. */
  async #commit(group: readonly Waiting<Tables>[], progress: { index: number }): Promise<Committed> {
    const lastSteps: (() => Promise<void>)[] = [];
    const actions: (() => void)[] = [];
    const { runAtOnce } = this.#options;
    const results = await this.#db.transaction().execute(async (db) => {
      const transaction: WriteTransaction<Tables> = {
        db,
        beforeCommit: (action) => void lastSteps.push(action),
        afterCommit: (action) => void actions.push(action),
      };
      // Taken back in the end: a query that comes too late must not get into the next transaction.
      const stop = runAtOnce && letRunAtOnce(db, runAtOnce);
      try {
        const results: unknown[] = [];
        for (const [index, { write }] of group.entries()) {
          progress.index = index;
          results.push(await write(transaction));
        }
        progress.index = -1;
        for (const step of lastSteps) await step();
        return results;
      } finally {
        stop?.();
      }
    });
    return { results, actions };
  }
}
