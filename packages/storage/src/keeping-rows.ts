import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from './is-postgres.js';

/**
 * The end of a query in a transaction which keeps the rows that it reads as they are until the commit; others may keep
 * them too. On SQLite nobody else writes until then anyway.
 */
export function keepingRows<Tables>(db: Kysely<Tables>): RawBuilder<unknown> {
  return isPostgres(db) ? sql`for share` : sql``;
}

/** As {@link keepingRows}, for rows that this transaction is about to change: nobody else keeps or changes them. */
export function lockingRows<Tables>(db: Kysely<Tables>): RawBuilder<unknown> {
  return isPostgres(db) ? sql`for update` : sql``;
}
