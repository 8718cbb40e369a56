import type { QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { SqliteDatabase, SqliteStatement } from './open-sqlite.js';

const maximumCachedStatements = 500;

interface PreparedStatement {
  readonly statement: SqliteStatement;
  /** Converts the rows of the statement; `undefined` for a statement without results. */
  reader: RowReader | undefined;
}

/** Converts the rows of a statement into objects. */
interface RowReader {
  readonly columns: number;
  read(row: readonly unknown[]): unknown;
}

/** Connection with an LRU cache of prepared statements. Preparing most statements takes longer than running them. */
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
    if (prepared.reader !== undefined) {
      // `setReturnArrays` makes this return arrays, but the library's types do not say so.
      const rows: readonly (readonly unknown[])[] = statement.all(...values);
      // After a migration by any process, a `select *` may return more columns than before.
      if (rows[0] !== undefined && rows[0].length !== prepared.reader.columns) {
        prepared.reader = rowReader(statement);
      }
      const { read } = prepared.reader;
      return { rows: rows.map((row) => read(row) as R) };
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
    const reader = rowReader(statement);
    if (reader.columns > 0) statement.setReturnArrays(true);
    const prepared: PreparedStatement = { statement, reader: reader.columns > 0 ? reader : undefined };
    this.#statements.set(sql, prepared);
    return prepared;
  }
}

/**
 * Compiles a function that converts a row from an array to an object, because the engine takes twice as long to build
 * objects. A generated function that names the columns takes a fifth of the time of a loop over them. Its source
 * contains only quoted names.
 */
function rowReader(statement: SqliteStatement): RowReader {
  const names = statement.columns().map(({ name }) => name);
  const fields = names.map((name, index) => `[${JSON.stringify(name)}]: row[${index}]`);
  const read = new Function('row', `return { ${fields.join(', ')} };`) as RowReader['read'];
  return { columns: names.length, read };
}
