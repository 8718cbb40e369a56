import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from './is-postgres.js';

/** What a column of {@link rowsAsTable} holds: whole numbers up to 2^53, or text without NUL. */
export type RowColumn = 'integer' | 'text';

/**
 * Rows as a table of a statement, however many: they travel as one parameter, so that the statement stays the same.
 * Use it as `from ${rowsAsTable(db, 'v', { id: 'integer' }, rows)}`.
 */
export function rowsAsTable<Tables, Column extends string>(
  db: Kysely<Tables>,
  name: string,
  columns: Readonly<Record<Column, RowColumn>>,
  rows: readonly Readonly<Record<NoInfer<Column>, string | number>>[],
): RawBuilder<unknown> {
  return rowsAsTableOf(db, name, columns, JSON.stringify(rows));
}

/** As {@link rowsAsTable}, of a JSON array: what a query whose text is fixed has as a parameter. */
export function rowsAsTableOf<Tables, Column extends string>(
  db: Kysely<Tables>,
  name: string,
  columns: Readonly<Record<Column, RowColumn>>,
  json: string,
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Column[];
  if (isPostgres(db)) {
    const types = names.map((column) => `"${column}" ${columns[column] === 'integer' ? 'bigint' : 'text'}`);
    return sql`json_to_recordset(${json}::json) as ${sql.raw(`"${name}"(${types.join(', ')})`)}`;
  }
  const values = names.map((column) => `json_extract(value, '$.${column}') as "${column}"`);
  return sql`(select ${sql.raw(values.join(', '))} from json_each(${json})) as ${sql.raw(`"${name}"`)}`;
}

/** Numbers as the right side of `in`, however many: one parameter, so that the statement stays the same. */
export function amongNumbers<Tables, Id extends number>(
  db: Kysely<Tables>,
  numbers: readonly Id[],
): RawBuilder<Id> {
  return amongNumbersOf<Tables, Id>(db, JSON.stringify(numbers));
}

/** As {@link amongNumbers}, of a JSON array: what a query whose text is fixed has as a parameter. */
export function amongNumbersOf<Tables, Id extends number>(db: Kysely<Tables>, json: string): RawBuilder<Id> {
  return isPostgres(db)
    ? sql<Id>`(select value::bigint from json_array_elements_text(${json}::json))`
    : sql<Id>`(select value from json_each(${json}))`;
}

/** The numbers of a JSON array in a column of text, as a table with the column `value`, beside the row that it is in. */
export function numbersIn<Tables>(db: Kysely<Tables>, column: string, name: string): RawBuilder<unknown> {
  return elementsIn(db, column, name, 'bigint');
}

/** As {@link numbersIn}, of an array of texts. */
export function textsIn<Tables>(db: Kysely<Tables>, column: string, name: string): RawBuilder<unknown> {
  return elementsIn(db, column, name, 'text');
}

function elementsIn<Tables>(db: Kysely<Tables>, column: string, name: string, type: 'bigint' | 'text') {
  const [array, table] = [sql.ref(column), sql.raw(`"${name}"`)];
  return isPostgres(db)
    ? sql`lateral (select element::${sql.raw(type)} as value from json_array_elements_text(${array}::json) as element) as ${table}`
    : sql`json_each(${array}) as ${table}`;
}
