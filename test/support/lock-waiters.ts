import { type Kysely, sql } from 'kysely';

/**
 * Number of statements that wait for another transaction in this PostgreSQL database. With `text`, counts only matching
 * statements.
 */
export async function lockWaiters(db: Pick<Kysely<never>, 'getExecutor'>, text = '%'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${text}`.execute(db);
  return Number(rows[0]?.count);
}
