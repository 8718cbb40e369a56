import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import { isPostgres } from './is-postgres.js';
import { rowsOf } from './run-at-once.js';

/** Placeholder in a compiled query for a value that is given at run time. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Function that runs the query with the given parameter values and returns its rows. */
export type FixedQuery<Tables, Parameters, Row> = (
  db: Kysely<Tables>,
  parameters: Parameters,
) => Promise<Row[]>;

/**
 * Returns a query with fixed SQL text. The query is built and compiled once per kind of database, because compiling
 * takes longer than running most queries. `build` gets each value as `parameter(name)`, a placeholder that it must not
 * inspect. A value computed from other values needs its own parameter.
 */
export function fixedQuery<Tables, Parameters, Row>(
  build: (
    db: Kysely<Tables>,
    parameter: <Name extends keyof Parameters & string>(name: Name) => Parameters[Name],
  ) => Compilable<Row>,
): FixedQuery<Tables, Parameters, Row> {
  const compiled: { postgres?: CompiledQuery<Row>; sqlite?: CompiledQuery<Row> } = {};
  return async (db, parameters) => {
    const kind = isPostgres(db) ? 'postgres' : 'sqlite';
    compiled[kind] ??= build(db, (name) => new Placeholder(name) as never).compile();
    const query = compiled[kind];
    const values = query.parameters.map((value) =>
      value instanceof Placeholder ? parameters[value.name as keyof Parameters] : value,
    );
    return rowsOf(db, { ...query, parameters: values });
  };
}
