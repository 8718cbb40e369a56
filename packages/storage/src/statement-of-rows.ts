import { type CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import { arrayText } from './postgres/array-text.js';
import { keepPrepared } from './postgres/prepared-statements.js';
import type { RowColumn } from './rows-as-table.js';
import { rowsOfText } from './run-at-once.js';

/** The columns of the rows that a statement is given, and what they hold; integers and text may be null. */
export type GivenColumns = Readonly<Record<string, RowColumn>>;

/** Their names, in the order in which rows give their values. */
export function namesOf<Columns extends GivenColumns>(columns: Columns): (keyof Columns & string)[] {
  return Object.keys(columns);
}

/** The values of one row, in the order of the columns. */
export type GivenRow = readonly (string | number | null)[];

export interface StatementOfRowsOptions {
  /** Whether it only inserts, so that each connection may keep it planned. */
  readonly isInsertion: boolean;
}

/**
 * A statement of PostgreSQL for any number of rows. They travel as an array for each column, so that its text is short and
 * always the same.
 */
export class StatementOfRows<Result = never> {
  readonly #text: string;
  readonly #columns: number;

  /** @param build the statement, given a query for `rows`; nothing else of it may be a parameter. */
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

  /** What the statement returns. */
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
