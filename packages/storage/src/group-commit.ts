import { setTimeout as delay } from 'node:timers/promises';
import { atEndOfTick } from '@waxwing/service/lifecycle';
import { boundToTrace } from '@waxwing/service/tracing';
import type { Kysely } from 'kysely';
import { DatabaseUnavailableError } from './database-unavailable-error.js';
import { type RepeatConflictsOptions, repeatConflicts } from './repeat-conflicts.js';
import { letRunAtOnce, type RunAtOnce } from './run-at-once.js';
import type { Write, WriteTransaction } from './transaction.js';

interface Waiting<Tables> {
  readonly write: Write<Tables, unknown>;
  readonly isBatched: boolean;
  readonly isFirst: boolean;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

interface WriteOptions {
  /**
   * Whether the write already batches a whole event-loop tick. If so, it starts immediately if a writer is free.
   * Default: false.
   */
  readonly isBatched?: boolean;
  /** Whether the write runs before the other writes of its batch. Default: false. */
  readonly isFirst?: boolean;
}

interface Committed {
  /** One result per committed write. Fewer results than writes if the group reached its time limit. */
  readonly results: readonly unknown[];
  readonly actions: readonly (() => void)[];
}

export interface GroupCommitOptions extends RepeatConflictsOptions {
  /** Maximum concurrent transactions. */
  readonly writers: number;
  /** Runs queries of the current transaction synchronously. Present only if transactions run one at a time. */
  readonly runAtOnce?: RunAtOnce | undefined;
  /** Called with the error of an `afterCommit` action. */
  onActionError(error: unknown): void;
}

const maximumWritesPerCommit = 256;
// Groups of up to this many writes are not split across transactions.
const minimumShare = 32;
// Roughly the duration of a commit. Waiting longer for other writes to join a batch would not pay off.
const maximumBatchDelayMilliseconds = 10;
/**
 * Time limit of a group. The remaining writes move to the next group, so that one slow write delays only a few others.
 */
const maximumGroupMilliseconds = 50;
/** Time limit of a group on SQLite. Longer, because the groups run one at a time, and each pays for a commit. */
const maximumSerialGroupMilliseconds = 150;
const longestPauseMilliseconds = 1000;
// After this many failed writes in a group, the remaining writes are committed one by one.
const maximumCulpritsPerGroup = 3;

/**
 * Group commit: batches the writes that arrive while another commit runs, or in consecutive event-loop ticks. The
 * writes of a batch share the cost of one durable commit. If a write throws, only that write fails, and the others run
 * again without it.
 */
export class GroupCommit<Tables> {
  readonly #db: Kysely<Tables>;
  readonly #options: GroupCommitOptions;
  #waiting: Waiting<Tables>[] = [];
  #busyWriters = 0;
  #lastSingle: Promise<void> = Promise.resolve();
  /** Number of writes requested through {@link run}. */
  #requested = 0;
  #hasRun = false;

  constructor(db: Kysely<Tables>, options: GroupCommitOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Whether any write was requested. */
  get hasRun(): boolean {
    return this.#hasRun;
  }

  /**
   * Resolves to the result of the write once it is committed. If the write throws, rejects with its error, and nothing
   * is changed.
   *
   * @throws DatabaseUnavailableError if the database is unreachable
   */
  run<Result>(
    write: Write<Tables, Result>,
    { isBatched = false, isFirst = false }: WriteOptions = {},
  ): Promise<Result> {
    this.#hasRun = true;
    this.#requested++;
    return new Promise<Result>((resolve, reject) => {
      const bound = boundToTrace(write);
      const settle = { resolve: resolve as (result: unknown) => void, reject };
      this.#waiting.push({ write: bound, isBatched, isFirst, ...settle });
      if (this.#busyWriters === this.#options.writers) return;
      this.#busyWriters++;
      if (isBatched) queueMicrotask(() => void this.#commitAll());
      else atEndOfTick(() => void this.#commitAll());
    });
  }

  /**
   * Commits a slow write in its own transaction. Slow writes run one at a time. On PostgreSQL, writes of {@link run}
   * continue concurrently. On SQLite, if other writes were requested during a slow write, the next slow write starts
   * only after an equally long pause (at most a second), so that other writes get their turn. Resolves and rejects as
   * `run` does.
   */
  runSingle<Result>(write: Write<Tables, Result>): Promise<Result> {
    this.#hasRun = true;
    return new Promise<Result>((resolve, reject) => {
      const settle = { resolve: resolve as (result: unknown) => void, reject };
      const waiting = { write, isBatched: true, isFirst: false, ...settle };
      this.#lastSingle = this.#lastSingle.then(() => this.#commitAndPause(waiting));
    });
  }

  async #commitAndPause(waiting: Waiting<Tables>): Promise<void> {
    const [begun, requested] = [performance.now(), this.#requested];
    await this.#commitSingle(waiting);
    if (this.#options.writers > 1 || this.#requested === requested) return;
    await delay(Math.min(performance.now() - begun, longestPauseMilliseconds));
  }

  async #commitAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const share = Math.max(minimumShare, Math.ceil(this.#waiting.length / this.#options.writers));
      const group = this.#waiting.splice(0, Math.min(share, maximumWritesPerCommit));
      await this.#commitGroup(inLockOrder(group));
      await this.#collectBatch();
    }
    this.#busyWriters--;
  }

  /**
   * Waits for more writes while each event-loop tick adds some, because the last commit may have delayed them. Stops
   * when the batch is full, or after 10 ms. Returns immediately if all pending writes are already batches.
   */
  async #collectBatch(): Promise<void> {
    const enough = this.#options.writers === 1 ? maximumWritesPerCommit : minimumShare;
    const until = performance.now() + maximumBatchDelayMilliseconds;
    for (let before = -1; before < this.#waiting.length && this.#waiting.length < enough; ) {
      if (performance.now() > until) return;
      if (this.#waiting.length > 0 && this.#waiting.every(({ isBatched }) => isBatched)) return;
      before = this.#waiting.length;
      await new Promise<void>(atEndOfTick);
    }
  }

  async #commitGroup(group: readonly Waiting<Tables>[]): Promise<void> {
    let rest = group;
    for (let culprits = 0; rest.length > 1 && culprits < maximumCulpritsPerGroup; culprits++) {
      const failed = await this.#tryBatch(rest);
      if (failed === 'settled') return;
      if (failed === 'unknown') break;
      const culprit = rest[failed];
      rest = rest.filter((waiting) => waiting !== culprit);
      // The write may have failed because of another write in the batch. Commit it separately: if it fails again, the
      // write itself is at fault.
      if (culprit !== undefined) await this.#commitSingle(culprit);
    }
    for (const waiting of rest) await this.#commitSingle(waiting);
  }

  /**
   * Runs the writes as one batch. Returns the index of the write that failed, `unknown` if no single write is the
   * cause, or `settled`.
   */
  async #tryBatch(group: readonly Waiting<Tables>[]): Promise<number | 'unknown' | 'settled'> {
    const progress = { index: -1 };
    try {
      const committed = await this.#commit(group, progress);
      this.#settle(group.slice(0, committed.results.length), committed);
      this.#waiting.unshift(...group.slice(committed.results.length));
      return 'settled';
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) {
        for (const { reject } of group) reject(error);
        return 'settled';
      }
      return progress.index === -1 || this.#options.isConflict(error) ? 'unknown' : progress.index;
    }
  }

  async #commitSingle(waiting: Waiting<Tables>): Promise<void> {
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

  /**
   * Commits a group. `progress.index` is the index of the running write; it is -1 before the first and after the last
   * write.
   */
  async #commit(group: readonly Waiting<Tables>[], progress: { index: number }): Promise<Committed> {
    const lastSteps: (() => Promise<void>)[] = [];
    const actions: (() => void)[] = [];
    const { runAtOnce } = this.#options;
    const results = await this.#db.transaction().execute(async (db) => {
      const transaction: WriteTransaction<Tables> = {
        db,
        isShared: group.length > 1,
        beforeCommit: (action) => void lastSteps.push(action),
        afterCommit: (action) => void actions.push(action),
      };
      // `stop` revokes the permission when the transaction ends, so that a late query does not run in the next
      // transaction.
      const stop = runAtOnce && letRunAtOnce(db, runAtOnce);
      try {
        const results: unknown[] = [];
        const until =
          performance.now() + (runAtOnce ? maximumSerialGroupMilliseconds : maximumGroupMilliseconds);
        for (const [index, { write }] of group.entries()) {
          if (index > 0 && performance.now() > until) break;
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

/** Moves the writes that must run first to the front. Otherwise keeps the order. */
function inLockOrder<Tables>(group: readonly Waiting<Tables>[]): readonly Waiting<Tables>[] {
  if (!group.some(({ isFirst }) => isFirst)) return group;
  return [...group.filter(({ isFirst }) => isFirst), ...group.filter(({ isFirst }) => !isFirst)];
}
