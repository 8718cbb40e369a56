import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { BulkStatement } from './bulk-statement.js';
import { isPostgres } from './is-postgres.js';
import { arrayText } from './postgres/array-text.js';
import { keepPrepared } from './postgres/prepared-statements.js';
import type { RowColumn } from './rows-as-table.js';
import { rowsOfText } from './run-at-once.js';

/** The columns that a {@link BulkInsert} fills, and what they hold; integers and text may be null. */
export type InsertedColumns = Readonly<Record<string, RowColumn>>;

/** Their names, in the order in which rows give their values. */
export function namesOf<Columns extends InsertedColumns>(columns: Columns): (keyof Columns & string)[] {
  return Object.keys(columns);
}

/** The values of one row, in the order of the columns. */
export type InsertedRow = readonly (string | number | null)[];

/**
 * An insertion of any number of rows. On PostgreSQL all of them are one statement with an array for each column, whose text
 * is short and always the same; SQLite, where a statement costs no round trip, gets as few prepared ones as it can.
 */
export class BulkInsert<Result = never> {
  readonly #run: <Tables>(db: Transaction<Tables>, rows: readonly InsertedRow[]) => Promise<Result[]>;

  /** @param build the insertion of `rows`, which are given to its `expression`; nothing else of it may be a parameter. */
  constructor(
    db: Pick<Kysely<never>, 'getExecutor'>,
    columns: InsertedColumns,
    build: (rows: RawBuilder<unknown>) => Compilable<Result>,
  ) {
    const types = Object.values(columns);
    if (isPostgres(db)) {
      const text = keepPrepared(build(arraysOfColumns(types)).compile().sql);
      this.#run = (db, rows) => insertAtOnce(db, text, types.length, rows);
    } else {
      const statement = new BulkStatement<Result>(
        (size) => build(listOfRows(types.length, size)).compile().sql,
      );
      this.#run = (db, rows) => statement.run(db, rows);
    }
  }

  /** What the insertion returns, in no order. */
  run<Tables>(db: Transaction<Tables>, rows: readonly InsertedRow[]): Promise<Result[]> {
    return this.#run(db, rows);
  }
}

async function insertAtOnce<Tables, Result>(
  db: Transaction<Tables>,
  text: string,
  columns: number,
  rows: readonly InsertedRow[],
): Promise<Result[]> {
  if (rows.length === 0) return [];
  const arrays = Array.from({ length: columns }, (_, column) =>
    arrayText(rows.map((row) => row[column] ?? null)),
  );
  return rowsOfText(db, text, arrays);
}

function arraysOfColumns(types: readonly RowColumn[]): RawBuilder<unknown> {
  const arrays = types.map((type) => (type === 'integer' ? sql`${[]}::bigint[]` : sql`${[]}::text[]`));
  return sql`select * from unnest(${sql.join(arrays)})`;
}

function listOfRows(columns: number, rows: number): RawBuilder<unknown> {
  const row = sql`(${sql.join(Array.from({ length: columns }, () => 0))})`;
  return sql`values ${sql.join(Array.from({ length: rows }, () => row))}`;
}
