import type { QueryResult } from 'kysely';
import type { SqliteDatabase, SqliteStatement } from './open-sqlite.js';

const maximumCachedStatements = 500;

/** One connection, with the statements that it has prepared: preparing costs more than most of them. */
export class StatementCache {
  readonly database: SqliteDatabase;
  readonly #statements = new Map<string, { statement: SqliteStatement; isReader: boolean }>();

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const { statement, isReader } = this.#prepare(sql);
    const values = parameters as Parameters<SqliteStatement['all']>;
    if (isReader) return { rows: statement.all(...values) as R[] };
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepare(sql: string): { statement: SqliteStatement; isReader: boolean } {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.database.prepare(sql);
    const prepared = { statement, isReader: statement.columns().length > 0 };
    if (this.#statements.size >= maximumCachedStatements) {
      const [oldest] = this.#statements.keys();
      if (oldest !== undefined) this.#statements.delete(oldest);
    }
    this.#statements.set(sql, prepared);
    return prepared;
  }
}
