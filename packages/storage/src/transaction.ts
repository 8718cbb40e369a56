import type { Transaction } from 'kysely';

/** The part of a write transaction that code with its own tables uses, such as the job queue. */
export interface AnyTransaction {
  readonly db: Pick<Transaction<unknown>, 'withTables'>;
  /** Runs `action` in the transaction, after all writes. If it throws, nothing is committed. */
  beforeCommit(action: () => Promise<void>): void;
  /** Runs `action` after the durable commit; never after a rollback. */
  afterCommit(action: () => void): void;
}

/** A write in progress: everything done through `db` commits atomically. */
export interface WriteTransaction<Tables> extends AnyTransaction {
  readonly db: Transaction<Tables>;
  /**
   * Whether the transaction may contain other writes. If it does and a `beforeCommit` action throws, each write runs
   * again on its own.
   */
  readonly isShared: boolean;
}

/**
 * Work to do in a transaction. The work may be retried from the start, so it must have no effects except through
 * `transaction`.
 *
 * On PostgreSQL, other transactions can commit between two statements of this one. Therefore make each decision in the
 * statement itself (a conditional update, a unique index, `on conflict`). A decision based on an earlier read would be
 * a race.
 */
export type Write<Tables, Result> = (transaction: WriteTransaction<Tables>) => Promise<Result>;
