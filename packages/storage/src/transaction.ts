import type { Transaction } from 'kysely';

/** A write under way, for code that brings its own tables (the job queue). */
export interface AnyTransaction {
  readonly db: Pick<Transaction<unknown>, 'withTables'>;
  /** Runs `action` in the transaction, after the writes; when it throws, nothing is committed. */
  beforeCommit(action: () => Promise<void>): void;
  /** Runs `action` once the write is on the disk; never when it is rolled back. */
  afterCommit(action: () => void): void;
}

/** A write under way. What is done through `db` is committed together, or not at all. */
export interface WriteTransaction<Tables> extends AnyTransaction {
  readonly db: Transaction<Tables>;
}

/**
 * Work for a transaction. It may be run again from the start, so it must have no effect but through `transaction`.
 * On PostgreSQL other transactions commit between two statements of it: decide in the statement itself (a conditional
 * update, a unique index, `on conflict`), never from what an earlier statement read.
 */
export type Write<Tables, Result> = (transaction: WriteTransaction<Tables>) => Promise<Result>;
