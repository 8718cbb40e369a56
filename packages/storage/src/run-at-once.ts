import { CompiledQuery, type Kysely, type QueryResult } from 'kysely';

/** Runs a query without waiting for anything; `undefined` for one that has to wait, which is not begun. */
export type RunAtOnce = <Row>(query: CompiledQuery<Row>) => QueryResult<Row> | undefined;

// A property, because a weak map of all transactions keeps the garbage collector busy; of the executor, because a database
// with other tables has the same one, and every transaction one of its own.
const runAtOnceKey = Symbol('runAtOnce');
type AtOnce = { [runAtOnceKey]?: RunAtOnce | undefined };

/** Has {@link rowsOf} run queries of `db` so, until the answer is called. */
export function letRunAtOnce<Tables>(db: Kysely<Tables>, run: RunAtOnce): () => void {
  const executor = db.getExecutor() as AtOnce;
  executor[runAtOnceKey] = run;
  return () => {
    executor[runAtOnceKey] = undefined;
  };
}

/**
 * The rows of a compiled query. Where it can be run at once it passes by what Kysely does around each query, which takes
 * as long as half of them.
 */
export async function rowsOf<Tables, Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<Row[]> {
  const executor = db.getExecutor() as AtOnce;
  const result = executor[runAtOnceKey]?.(query) ?? (await db.executeQuery<Row>(query));
  return result.rows;
}

/** As {@link rowsOf}, of a query's text. */
export function rowsOfText<Tables, Row>(
  db: Kysely<Tables>,
  text: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  return rowsOf(db, CompiledQuery.raw(text, parameters as unknown[]) as CompiledQuery<Row>);
}
