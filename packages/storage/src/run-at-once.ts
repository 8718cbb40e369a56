import { CompiledQuery, type Kysely, type QueryResult } from 'kysely';

/** Runs a query synchronously. If the query would have to wait, returns `undefined` without running it. */
export type RunAtOnce = <Row>(query: CompiledQuery<Row>) => QueryResult<Row> | undefined;

// The function is stored as a property of the executor, because a WeakMap of all transactions would slow down garbage
// collection. Each transaction has its own executor, which `withTables` keeps.
const runAtOnceKey = Symbol('runAtOnce');
type AtOnce = { [runAtOnceKey]?: RunAtOnce | undefined };

/** Makes {@link rowsOf} run queries of `db` with `run`, until the returned function is called. */
export function letRunAtOnce<Tables>(db: Kysely<Tables>, run: RunAtOnce): () => void {
  const executor = db.getExecutor() as AtOnce;
  executor[runAtOnceKey] = run;
  return () => {
    executor[runAtOnceKey] = undefined;
  };
}

/**
 * Runs a compiled query and returns its rows. Bypasses Kysely if the query can run synchronously, because for half of
 * all queries Kysely's overhead takes as long as the query itself.
 */
export async function rowsOf<Tables, Row>(db: Kysely<Tables>, query: CompiledQuery<Row>): Promise<Row[]> {
  const executor = db.getExecutor() as AtOnce;
  const result = executor[runAtOnceKey]?.(query) ?? (await db.executeQuery<Row>(query));
  return result.rows;
}

/** Like {@link rowsOf}, for SQL text. */
export function rowsOfText<Tables, Row>(
  db: Kysely<Tables>,
  text: string,
  parameters: readonly unknown[],
): Promise<Row[]> {
  return rowsOf(db, CompiledQuery.raw(text, parameters as unknown[]) as CompiledQuery<Row>);
}
