import type { QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { SqliteDatabase, SqliteStatement } from './open-sqlite.js';

const maximumCachedStatements = 500;

interface PreparedStatement {
  readonly statement: SqliteStatement;
  /** Names of the columns that it answers with; none for one that only writes. */
  columns: readonly string[];
}

/** One connection, with the statements that it has prepared: preparing costs more than most of them. */
export class StatementCache {
  readonly database: SqliteDatabase;
  readonly #statements = new LRUCache<string, PreparedStatement>({ max: maximumCachedStatements });

  constructor(database: SqliteDatabase) {
    this.database = database;
  }

  run<R>(sql: string, parameters: readonly unknown[]): QueryResult<R> {
    const prepared = this.#prepare(sql);
    const { statement } = prepared;
    const values = parameters as Parameters<SqliteStatement['all']>;
    if (prepared.columns.length > 0) {
      // It was told to answer arrays, of which its types know nothing.
      const rows = statement.all(...values) as unknown as readonly (readonly unknown[])[];
      // A `select *` has more columns once a migration, of this process or another, has added some.
      if (rows[0] !== undefined && rows[0].length !== prepared.columns.length) {
        prepared.columns = columnsOf(statement);
      }
      return { rows: rows.map((row) => toObject(prepared.columns, row) as R) };
    }
    const { changes, lastInsertRowid } = statement.run(...values);
    return { rows: [], numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid) };
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #prepare(sql: string): PreparedStatement {
    const cached = this.#statements.get(sql);
    if (cached !== undefined) return cached;
    const statement = this.database.prepare(sql);
    const columns = columnsOf(statement);
    if (columns.length > 0) statement.setReturnArrays(true);
    const prepared = { statement, columns };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

function columnsOf(statement: SqliteStatement): string[] {
  return statement.columns().map(({ name }) => name);
}

/** Rows come as arrays, because the engine takes twice as long to make objects as this does. */
function toObject(columns: readonly string[], row: readonly unknown[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  columns.forEach((name, index) => {
    object[name] = row[index];
  });
  return object;
}
