import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqliteDatabase, SqliteStatement } from './open-sqlite.js';

const maximumCachedStatements = 500;

/** Kysely on one SQLite connection. Queries run at once, on the event loop; transactions queue behind each other. */
export function createSqliteDialect(database: SqliteDatabase): Dialect {
  return {
    createDriver: () => new SqliteConnectionDriver(database),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  };
}

class SqliteConnectionDriver implements Driver {
  readonly #database: SqliteDatabase;
  readonly #connection: SqliteConnection;
  #tail: Promise<void> = Promise.resolve();
  #release: (() => void) | undefined;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    this.#connection = new SqliteConnection(database);
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    const previous = this.#tail;
    let release = (): void => {};
    this.#tail = new Promise((resolve) => {
      release = resolve;
    });
    await previous;
    this.#release = release;
    return this.#connection;
  }

  async releaseConnection(): Promise<void> {
    this.#release?.();
  }

  // IMMEDIATE: a deferred transaction that turns to writing while another process writes fails without waiting.
  async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('begin immediate'));
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('commit'));
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    // A full disk makes SQLite roll back by itself; rolling back again would hide that error behind another.
    if (this.#database.isTransaction) await connection.executeQuery(CompiledQuery.raw('rollback'));
  }

  async destroy(): Promise<void> {
    this.#connection.forgetStatements();
    this.#database.close();
  }
}

class SqliteConnection implements DatabaseConnection {
  readonly #database: SqliteDatabase;
  readonly #statements = new Map<string, { statement: SqliteStatement; isReader: boolean }>();

  constructor(database: SqliteDatabase) {
    this.#database = database;
  }

  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const { statement, isReader } = this.#prepare(sql);
    const values = parameters as Parameters<SqliteStatement['all']>;
    if (isReader) return { rows: statement.all(...values) as R[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  // biome-ignore lint/correctness/useYield: the engine answers with all rows at once; Kysely's interface asks for a generator.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported on SQLite: read in pages instead');
  }

  forgetStatements(): void {
    this.#statements.clear();
  }

  #prepare(sql: string): { statement: SqliteStatement; isReader: boolean } {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.#database.prepare(sql);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    if (this.#statements.size >= maximumCachedStatements) {
      const [oldest] = this.#statements.keys();
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
