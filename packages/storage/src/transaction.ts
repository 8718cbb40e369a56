import type { Transaction } from 'kysely';

/** A write under way. What is done through `db` is committed together, or not at all. */
export interface WriteTransaction<Tables> {
  readonly db: Transaction<Tables>;
  /** Runs `action` once the write is on the disk; never when it is rolled back. */
  afterCommit(action: () => void): void;
}

/** A write under way, for code that brings its own tables (the job queue). */
export interface AnyTransaction {
  readonly db: object;
  afterCommit(action: () => void): void;
}

/** Work for a transaction. It may be run again from the start, so it must have no effect but through `transaction`. */
export type Write<Tables, Result> = (transaction: WriteTransaction<Tables>) => Promise<Result>;
