import type { Transaction } from 'kysely';

/** A write in progress, for code that has its own tables (such as the job queue). */
export interface AnyTransaction {
  readonly db: Pick<Transaction<unknown>, 'withTables'>;
  /** Runs `action` in the transaction, after the writes. If it throws, nothing is committed. */
  beforeCommit(action: () => Promise<void>): void;
  /** Runs `action` after the durable commit; never after a rollback. */
  afterCommit(action: () => void): void;
}

/** A write in progress: everything done through `db` commits atomically. */
export interface WriteTransaction<Tables> extends AnyTransaction {
  readonly db: Transaction<Tables>;
  /** Whether it may contain other writes. If a `beforeCommit` action throws then, each write runs again on its own. */
  readonly isShared: boolean;
}

/**
 * Work for a transaction. It may be retried from the start, so its only effects must be those through `transaction`.
 *
 * On PostgreSQL other transactions can commit between two of its statements. Decide in the statement itself (a
 * conditional update, a unique index, `on conflict`), never from what an earlier statement read: that would race.
 */
export type Write<Tables, Result> = (transaction: WriteTransaction<Tables>) => Promise<Result>;
