import { isPostgres } from '@waxwing/storage';
import type { CompiledQuery, Kysely, QueryResult } from 'kysely';
import { vi } from 'vitest';
import { StatementCache } from '#storage/sqlite/statement-cache.js';

/** A query and its result. */
export interface ObservedQuery {
  readonly sql: string;
  readonly parameters: readonly unknown[];
  readonly rows: readonly object[];
}

/**
 * Calls `tell` for every successful query, except begin and commit, that this thread runs on any database of the same
 * kind as `db`. Stops when the returned function is called.
 */
export function observeQueries<Tables>(db: Kysely<Tables>, tell: (query: ObservedQuery) => void): () => void {
  const spy = isPostgres(db) ? spyOnExecutors(db, tell) : spyOnStatements(tell);
  return () => spy.mockRestore();
}

function spyOnExecutors<Tables>(db: Kysely<Tables>, tell: (query: ObservedQuery) => void) {
  const executor = Object.getPrototypeOf(Object.getPrototypeOf(db.getExecutor()));
  const execute = executor.executeQuery;
  return vi.spyOn(executor, 'executeQuery').mockImplementation(async function (
    this: unknown,
    query,
    ...rest
  ) {
    const result: QueryResult<object> = await execute.call(this, query, ...rest);
    const { sql, parameters } = query as CompiledQuery;
    tell({ sql, parameters, rows: result.rows });
    return result;
  });
}

function spyOnStatements(tell: (query: ObservedQuery) => void) {
  const run = StatementCache.prototype.run;
  return vi.spyOn(StatementCache.prototype, 'run').mockImplementation(function (
    this: StatementCache,
    sql,
    parameters,
  ) {
    const result = run.call(this, sql, parameters) as QueryResult<object>;
    tell({ sql, parameters, rows: result.rows });
    return result;
  });
}
