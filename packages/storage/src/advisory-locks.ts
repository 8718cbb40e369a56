import { type Expression, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { isPostgres } from './is-postgres.js';

/**
 * Waits until no other transaction holds `name`, and holds it until this one ends: for what must not be decided by two
 * at once and has no row of its own to lock. On SQLite there is one transaction at a time anyway.
 */
export async function holdAlone<Tables>(db: Transaction<Tables>, name: string): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`select pg_advisory_xact_lock(${advisoryKey(name)})`.execute(db);
}

/**
 * Holds `name` until the transaction ends, beside any others that hold it so: whoever wants to hold it alone waits for all
 * of them. On SQLite there is one transaction at a time anyway.
 */
export async function holdTogether<Tables>(db: Transaction<Tables>, name: string): Promise<void> {
  if (!isPostgres(db)) return;
  await sql`select pg_advisory_xact_lock_shared(${advisoryKey(name)})`.execute(db);
}

/**
 * A condition which is true for one transaction at a time: it holds `name` until it ends, and for others the condition
 * is false instead of making them wait, so that no two transactions ever wait for each other. It may be false once in a
 * while though nobody holds the name, which may be a column. On SQLite there is one transaction at a time anyway.
 */
export function nobodyElseHolds<Tables>(
  db: Kysely<Tables>,
  name: string | Expression<string>,
): RawBuilder<boolean> {
  return isPostgres(db) ? sql<boolean>`pg_try_advisory_xact_lock(${advisoryKey(name)})` : sql<boolean>`true`;
}

/** The lock of a name: the same for those who wait for it and those who only ask. */
function advisoryKey(name: string | Expression<string>): RawBuilder<unknown> {
  return sql`hashtextextended(${name}, 0)`;
}
