import type { QueryResult } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { SqliteDatabase, SqliteStatement } from './open-sqlite.js';

const maximumCachedStatements = 500;

interface PreparedStatement {
  readonly statement: SqliteStatement;
  /** How its rows are made; `undefined` for one that only writes. */
  reader: RowReader | undefined;
}

/** Makes objects of a statement's rows. */
interface RowReader {
  readonly columns: number;
  read(row: readonly unknown[]): unknown;
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
    if (prepared.reader !== undefined) {
      // It was told to answer arrays, of which its types know nothing.
      const rows: readonly (readonly unknown[])[] = statement.all(...values);
      // A `select *` has more columns once a migration, of this process or another, has added some.
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
 * Rows come as arrays, because the engine takes twice as long to make objects as this does; and a function that names the
 * columns takes a fifth of the time of a loop over them. Nothing gets into its text but quoted names.
 */
function rowReader(statement: SqliteStatement): RowReader {
  const names = statement.columns().map(({ name }) => name);
  const fields = names.map((name, index) => `[${JSON.stringify(name)}]: row[${index}]`);
  const read = new Function('row', `return { ${fields.join(', ')} };`) as RowReader['read'];
  return { columns: names.length, read };
}
