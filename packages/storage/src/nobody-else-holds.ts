import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely';

/**
 * A condition which is true for one transaction at a time: it holds `name` until it ends, and for others the condition
 * is false instead of making them wait, so that no two transactions ever wait for each other. It may be false once in a
 * while though nobody holds the name. On SQLite there is one transaction at a time anyway.
 */
export function nobodyElseHolds<Tables>(db: Kysely<Tables>, name: string): RawBuilder<boolean> {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${name}, 0))`
    : sql<boolean>`true`;
}
