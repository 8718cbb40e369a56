import { type Kysely, sql } from 'kysely';

/**
 * How many statements wait for another transaction, in this PostgreSQL database; of those alone whose text is like
 * `text`.
 */
export async function lockWaiters(db: Pick<Kysely<never>, 'getExecutor'>, text = '%'): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like ${text}`.execute(db);
  return Number(rows[0]?.count);
}
