import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
import { isPostgres } from './is-postgres.js';

/** Column types that hold the same values on SQLite and PostgreSQL. */
export const columnTypes = {
  /** Unix milliseconds, counts and other integers up to 2^53. They are read as `number`. */
  integer: 'bigint',
  text: 'text',
} as const;

/** Adds the primary key `id`: a positive integer that the database assigns and never reuses. */
export function addIdColumn<Table extends string>(
  db: Kysely<unknown>,
  table: CreateTableBuilder<Table>,
): CreateTableBuilder<Table, 'id'> {
  if (isPostgres(db)) {
    return table.addColumn('id', 'bigint', (column) => column.primaryKey().generatedAlwaysAsIdentity());
  }
  return table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement());
}

/**
 * Stores a table in the order of its primary key where that is supported (SQLite's `without rowid`). Small rows that
 * are inserted together are then adjacent, and the table needs one B-tree fewer.
 */
export function inKeyOrder<Table extends string, Columns extends string>(
  db: Kysely<unknown>,
  table: CreateTableBuilder<Table, Columns>,
): CreateTableBuilder<Table, Columns> {
  return isPostgres(db) ? table : table.modifyEnd(sql`without rowid`);
}
