import { type Kysely, sql } from 'kysely';

/**
 * Number of statements in this PostgreSQL database that wait for another transaction's lock. With `text`, counts only
 * statements that match this SQL pattern.
 */
export async function lockWaiters(db: Pick<Kysely<never>, 'getExecutor'>, text = '%'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${text}`.execute(db);
  return Number(rows[0]?.count);
}
