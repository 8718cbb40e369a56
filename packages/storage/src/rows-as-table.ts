import { type Kysely, type RawBuilder, sql } from 'kysely';
import { isPostgres } from './is-postgres.js';
import { arrayText } from './postgres/array-text.js';

// PostgreSQL gets arrays instead of JSON. The planner knows the length of an array, but assumes 100 rows for any JSON.
// With that estimate it would scan a whole table of 10,000 rows.

/** Value type of a column of {@link rowsAsTable}: integers up to 2^53, or strings without NUL. */
export type RowColumn = 'integer' | 'text';

/**
 * Passes any number of rows to a statement as a table. The rows are one JSON parameter on SQLite and one array per
 * column on PostgreSQL, so that the SQL text stays the same. Use it as `from ${rowsAsTable(db, 'v', { id: 'integer' },
 * rows)}`.
 */
export function rowsAsTable<Tables, Column extends string>(
  db: Kysely<Tables>,
  name: string,
  columns: Readonly<Record<Column, RowColumn>>,
  rows: readonly Readonly<Record<NoInfer<Column>, string | number>>[],
): RawBuilder<unknown> {
  if (!isPostgres(db)) return rowsAsTableOf(db, name, columns, JSON.stringify(rows));
  const names = Object.keys(columns) as Column[];
  const arrays = names.map((column) =>
    arrayOf(
      columns[column],
      rows.map((row) => row[column]),
    ),
  );
  return sql`unnest(${sql.join(arrays)}) as ${sql.raw(`"${name}"("${names.join('", "')}")`)}`;
}

/** Like {@link rowsAsTable}, but accepts a JSON array, for use with a parameter of a fixed query. */
export function rowsAsTableOf<Tables, Column extends string>(
  db: Kysely<Tables>,
  name: string,
  columns: Readonly<Record<Column, RowColumn>>,
  json: string,
): RawBuilder<unknown> {
  const names = Object.keys(columns) as Column[];
  if (isPostgres(db)) {
    const types = names.map((column) => `"${column}" ${postgresType(columns[column])}`);
    return sql`json_to_recordset(${json}::json) as ${sql.raw(`"${name}"(${types.join(', ')})`)}`;
  }
  const values = names.map((column) => `json_extract(value, '$.${column}') as "${column}"`);
  return sql`(select ${sql.raw(values.join(', '))} from json_each(${json})) as ${sql.raw(`"${name}"`)}`;
}

function arrayOf(type: RowColumn, values: readonly (string | number)[]): RawBuilder<unknown> {
  return sql`${arrayText(values)}::${sql.raw(postgresType(type))}[]`;
}

function postgresType(type: RowColumn): string {
  return type === 'integer' ? 'bigint' : 'text';
}

/**
 * Returns a condition that a column equals one of any number of values. Use it instead of {@link amongNumbers} inside
 * `or`, and for values with very different frequencies (some channels have far more subscriptions than others):
 * PostgreSQL then uses the statistics of each value.
 */
export function isAmong<Tables>(
  db: Kysely<Tables>,
  column: string,
  type: RowColumn,
  values: readonly (string | number)[],
): RawBuilder<boolean> {
  return isAmongListed(db, column, type, listText(db, values));
}

/** Like {@link isAmong}, but accepts the result of {@link listText}, for use with a parameter of a fixed query. */
export function isAmongListed<Tables>(
  db: Kysely<Tables>,
  column: string,
  type: RowColumn,
  list: string,
): RawBuilder<boolean> {
  return isPostgres(db)
    ? sql<boolean>`${sql.ref(column)} = any(${list}::${sql.raw(postgresType(type))}[])`
    : sql<boolean>`${sql.ref(column)} in (select value from json_each(${list}))`;
}

/** Formats values as one parameter: an array on PostgreSQL, JSON on SQLite. */
export function listText<Tables>(db: Kysely<Tables>, values: readonly (string | number)[]): string {
  return isPostgres(db) ? arrayText(values) : JSON.stringify(values);
}

/**
 * Returns the right-hand side of `in` for any number of values. The values are one JSON parameter, so the SQL text
 * stays the same.
 */
export function amongNumbers<Tables, Id extends number>(
  db: Kysely<Tables>,
  numbers: readonly Id[],
): RawBuilder<Id> {
  return amongNumbersOf<Tables, Id>(db, JSON.stringify(numbers));
}

/** Like {@link amongNumbers}, but accepts a JSON array, for use with a parameter of a fixed query. */
export function amongNumbersOf<Tables, Id extends number>(db: Kysely<Tables>, json: string): RawBuilder<Id> {
  return isPostgres(db)
    ? sql<Id>`(select value from unnest(translate(${json}::text, '[]', '{}')::bigint[]) as value)`
    : sql<Id>`(select value from json_each(${json}))`;
}

/** Like {@link amongNumbersOf}, for strings. */
export function amongTextsOf<Tables, Text extends string>(
  db: Kysely<Tables>,
  json: string,
): RawBuilder<Text> {
  return isPostgres(db)
    ? sql<Text>`(select value from json_array_elements_text(${json}::json))`
    : sql<Text>`(select value from json_each(${json}))`;
}

/**
 * Aggregates a column of integers into a JSON array in ascending order, as a string. Faster than reading many rows one
 * by one.
 */
export function ascendingNumbers<Tables>(db: Kysely<Tables>, column: string): RawBuilder<string> {
  const values = sql.ref(column);
  return isPostgres(db)
    ? sql<string>`json_agg(${values} order by ${values})::text`
    : sql<string>`json_group_array(${values} order by ${values})`;
}

/** Expands a text column that contains a JSON array of numbers into a lateral table with the column `value`. */
export function numbersIn<Tables>(db: Kysely<Tables>, column: string, name: string): RawBuilder<unknown> {
  return elementsIn(db, column, name, 'bigint');
}

/** Like {@link numbersIn}, for an array of strings. */
export function textsIn<Tables>(db: Kysely<Tables>, column: string, name: string): RawBuilder<unknown> {
  return elementsIn(db, column, name, 'text');
}

function elementsIn<Tables>(db: Kysely<Tables>, column: string, name: string, type: 'bigint' | 'text') {
  const [array, table] = [sql.ref(column), sql.raw(`"${name}"`)];
  return isPostgres(db)
    ? sql`lateral (select element::${sql.raw(type)} as value from json_array_elements_text(${array}::json) as element) as ${table}`
    : sql`json_each(${array}) as ${table}`;
}
