import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from './is-postgres.js';

/**
 * Returns the row lock clause `for share`, to append to a query. Other transactions can read and share-lock the rows,
 * but not change them until the commit. Empty on SQLite, which runs one write transaction at a time.
 */
export function keepingRows<Tables>(db: Kysely<Tables>): RawBuilder<unknown> {
  return isPostgres(db) ? sql`for share` : sql``;
}

/**
 * Returns the row lock clause `for update`, for rows that this transaction changes. Other transactions can neither lock
 * nor change the rows. Empty on SQLite, which runs one write transaction at a time.
 */
export function lockingRows<Tables>(db: Kysely<Tables>): RawBuilder<unknown> {
  return isPostgres(db) ? sql`for update` : sql``;
}
