import { type Kysely, PostgresAdapter } from 'kysely';

/** Whether a database is PostgreSQL; all others are SQLite. */
export function isPostgres(db: Pick<Kysely<never>, 'getExecutor'>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter;
}
