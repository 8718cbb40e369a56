import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { arrayText } from './postgres/array-text.js';
import { keepPrepared } from './postgres/prepared-statements.js';
import type { RowColumn } from './rows-as-table.js';
import { rowsOfText } from './run-at-once.js';

/** Names and types of the columns of given rows. Integers and strings may be null. */
export type GivenColumns = Readonly<Record<string, RowColumn>>;

/** Returns the names of the columns, in the order of a row's values. */
export function namesOf<Columns extends GivenColumns>(columns: Columns): (keyof Columns & string)[] {
  return Object.keys(columns);
}

/** The values of one row, in the order of the columns. */
export type GivenRow = readonly (string | number | null)[];

export interface StatementOfRowsOptions {
  /** Whether the statement only inserts, so that each connection may keep it prepared. */
  readonly isInsertion: boolean;
}

/**
 * A PostgreSQL statement for any number of rows. The rows are passed as one array per column, so the SQL text is short
 * and always the same.
 */
export class StatementOfRows<Result = never> {
  readonly #text: string;
  readonly #columns: number;

  /**
   * @param build returns the statement, given a query for `rows`. The statement must not contain any other parameters.
   */
  constructor(
    columns: GivenColumns,
    build: (rows: RawBuilder<unknown>) => CompiledQuery<Result>,
    { isInsertion }: StatementOfRowsOptions,
  ) {
    const types = Object.values(columns);
    const { sql: text } = build(arraysOfColumns(types));
    this.#text = isInsertion ? keepPrepared(text) : text;
    this.#columns = types.length;
  }

  /** Runs the statement for these rows, and returns the rows of its result. */
  async run<Tables>(db: Kysely<Tables>, rows: readonly GivenRow[]): Promise<Result[]> {
    if (rows.length === 0) return [];
    const arrays = Array.from({ length: this.#columns }, (_, column) =>
      arrayText(rows.map((row) => row[column] ?? null)),
    );
    return rowsOfText(db, this.#text, arrays);
  }
}

function arraysOfColumns(types: readonly RowColumn[]): RawBuilder<unknown> {
  const arrays = types.map((type) => (type === 'integer' ? sql`${[]}::bigint[]` : sql`${[]}::text[]`));
  return sql`select * from unnest(${sql.join(arrays)})`;
}
