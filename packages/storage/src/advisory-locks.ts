import { type Expression, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { isPostgres } from './is-postgres.js';

/**
 * Takes the exclusive advisory lock `name` until the transaction ends; waits for other holders. For decisions that must
 * not race but have no row to lock. A no-op on SQLite, which runs one write transaction at a time.
 */
export async function lockExclusive<Tables>(db: Transaction<Tables>, name: string): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`select pg_advisory_xact_lock(${advisoryKey(name)})`.execute(db);
}

/**
 * Takes the shared advisory lock `name` until the transaction ends. {@link lockExclusive} waits for all holders of the
 * shared lock. A no-op on SQLite, which runs one write transaction at a time.
 */
export async function lockShared<Tables>(db: Transaction<Tables>, name: string): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`select pg_advisory_xact_lock_shared(${advisoryKey(name)})`.execute(db);
}

/**
 * Returns a condition that tries to take the advisory lock `name` (a string or a column) until the transaction ends.
 * The condition is true if this transaction gets the lock, and false if another transaction holds it. Never waits, so
 * it cannot deadlock. In rare cases, a hash collision makes the condition false although the lock is free. Always true
 * on SQLite, which runs one write transaction at a time.
 */
export function tryLockExclusive<Tables>(
  db: Kysely<Tables>,
  name: string | Expression<string>,
): RawBuilder<boolean> {
  return isPostgres(db) ? sql<boolean>`pg_try_advisory_xact_lock(${advisoryKey(name)})` : sql<boolean>`true`;
}

/** Returns the key of a named lock. Blocking and non-blocking functions use the same key. */
function advisoryKey(name: string | Expression<string>): RawBuilder<unknown> {
  return sql`hashtextextended(${name}, 0)`;
}
