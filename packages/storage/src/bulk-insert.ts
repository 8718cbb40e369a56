import { type Compilable, type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { BulkStatement } from './bulk-statement.js';
import { isPostgres } from './is-postgres.js';
import { type GivenColumns, type GivenRow, StatementOfRows } from './statement-of-rows.js';

/**
 * Inserts any number of rows. On PostgreSQL, one statement inserts all rows ({@link StatementOfRows}). On SQLite, where
 * statements cost no round trip, the rows are split into batches of fixed sizes ({@link BulkStatement}).
 */
export class BulkInsert<Result = never> {
  readonly #run: <Tables>(db: Transaction<Tables>, rows: readonly GivenRow[]) => Promise<Result[]>;

  /** @param build returns a query that inserts `rows`. The query must not contain any other parameters. */
  constructor(
    db: Pick<Kysely<never>, 'getExecutor'>,
    columns: GivenColumns,
    build: (rows: RawBuilder<unknown>) => Compilable<Result>,
  ) {
    const statement = isPostgres(db)
      ? new StatementOfRows<Result>(columns, (rows) => build(rows).compile(), { isInsertion: true })
      : new BulkStatement<Result>(
          (size) => build(listOfRows(Object.keys(columns).length, size)).compile().sql,
        );
    this.#run = (db, rows) => statement.run(db, rows);
  }

  /** Inserts the rows. Returns the rows of `returning`, in no particular order. */
  run<Tables>(db: Transaction<Tables>, rows: readonly GivenRow[]): Promise<Result[]> {
    return this.#run(db, rows);
  }
}

function listOfRows(columns: number, rows: number): RawBuilder<unknown> {
  const row = sql`(${sql.join(Array.from({ length: columns }, () => 0))})`;
  return sql`values ${sql.join(Array.from({ length: rows }, () => row))}`;
}
