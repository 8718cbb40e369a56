import type { Compilable, CompiledQuery, Kysely } from 'kysely';
import { isPostgres } from './is-postgres.js';
import { rowsOf } from './run-at-once.js';

/** Stands in a query for a value that is given when it is run. */
class Placeholder {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Runs a query with these values for its parameters; its rows. */
export type FixedQuery<Tables, Parameters, Row> = (
  db: Kysely<Tables>,
  parameters: Parameters,
) => Promise<Row[]>;

/**
 * A query whose text is always the same: it is built and compiled once for each kind of database, which takes longer than
 * most of them run. `build` gets each value by `parameter(name)`, and must not look at it: what is calculated from values
 * is a parameter itself.
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
