import { PostgresAdapter, sql, type Transaction } from 'kysely';

/**
 * Waits until no other transaction holds `name`, and holds it until this one ends: for what must not be decided by two
 * at once and has no row of its own to lock. On SQLite there is one transaction at a time anyway.
 */
export async function holdAlone<Tables>(db: Transaction<Tables>, name: string): Promise<void> {
  if (!(db.getExecutor().adapter instanceof PostgresAdapter)) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(db);
}
