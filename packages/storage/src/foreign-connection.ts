import { Kysely, PostgresDialect, type PostgresPoolClient, SqliteDialect } from 'kysely';
import type { AnyTransaction } from './transaction.js';

/** A `pg` client with an open transaction of the host application. */
interface PgConnection {
  query(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/**
 * A connection of `@photostructure/sqlite` with an open transaction. `node:sqlite` and `better-sqlite3` also fit, but
 * are untested.
 */
interface SqliteConnection {
  prepare(text: string): {
    run(...values: never[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
    all(...values: never[]): unknown[];
  };
}

/** A Kysely transaction of the host application. */
interface KyselyConnection {
  readonly isTransaction: boolean;
  withTables(): object;
}

/** A connection of the host application to Waxwing's database, with an open transaction. */
export type ForeignConnection = PgConnection | SqliteConnection | KyselyConnection;

/**
 * Runs `work` in a given transaction, or in the open transaction of a host's connection. The host later commits its
 * transaction or rolls it back. The host's commit sends no signal, so the changes are found at the next poll.
 */
export async function withinTransaction<Result>(
  within: AnyTransaction | ForeignConnection,
  work: (transaction: AnyTransaction) => Promise<Result>,
): Promise<Result> {
  if ('beforeCommit' in within) return work(within);
  const actions: (() => Promise<void>)[] = [];
  const db = kyselyOn(within) as AnyTransaction['db'];
  const beforeCommit = (action: () => Promise<void>) => void actions.push(action);
  const result = await work({ db, beforeCommit, afterCommit: () => undefined });
  for (const action of actions) await action();
  return result;
}

/** Returns a new object each time, because pending work is keyed by this object. */
function kyselyOn(connection: ForeignConnection): object {
  if ('withTables' in connection) return connection.withTables();
  return new Kysely<never>({
    dialect: 'query' in connection ? postgresDialect(connection) : sqliteDialect(connection),
  });
}

function postgresDialect(connection: PgConnection): PostgresDialect {
  const query = (text: string, values: readonly unknown[]) => connection.query(text, [...values]);
  const client = { query, release: () => undefined } as unknown as PostgresPoolClient;
  return new PostgresDialect({ pool: { connect: async () => client, end: async () => undefined } });
}

function sqliteDialect(connection: SqliteConnection): SqliteDialect {
  const prepare = (text: string) => {
    const statement = connection.prepare(text);
    const valuesOf = (values: readonly unknown[]) => values as never[];
    return {
      // Detected from the SQL text, because only `better-sqlite3` reports whether a statement returns rows.
      reader: /^\s*select\b|\breturning\b/i.test(text),
      run: (values: readonly unknown[]) => statement.run(...valuesOf(values)),
      all: (values: readonly unknown[]) => statement.all(...valuesOf(values)),
      iterate: (values: readonly unknown[]) => statement.all(...valuesOf(values))[Symbol.iterator](),
    };
  };
  return new SqliteDialect({ database: { prepare, close: () => undefined } });
}
