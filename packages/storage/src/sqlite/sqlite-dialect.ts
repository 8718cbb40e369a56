import { setTimeout as delay, setImmediate } from 'node:timers/promises';
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  type TransactionSettings,
} from 'kysely';
import type { RunAtOnce } from '../run-at-once.js';
import type { SqliteDatabase } from './open-sqlite.js';
import type { SharedConnections } from './shared-connections.js';
import { isBusy, translateSqliteError } from './sqlite-errors.js';
import type { StatementCache } from './statement-cache.js';
import { UnplannedLimitsCompiler } from './unplanned-limits.js';

const lockWaitMilliseconds = 10_000;
const lockRetryMilliseconds = 10;

/**
 * Kysely dialect for one SQLite file. Queries run synchronously, on the event loop. Write transactions and single
 * writes queue for one connection. Reads outside a transaction use another connection and see committed data.
 */
export function createSqliteDialect(connections: SharedConnections): Dialect {
  return {
    createDriver: () => new SqliteDriver(connections),
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new UnplannedLimitsCompiler(),
  };
}

/**
 * Returns a function that runs queries outside a transaction, unless other requests should run first. The function runs
 * only reads, because writes must wait for the write lock.
 */
export function readingAtOnce(connections: SharedConnections): RunAtOnce {
  return (query) =>
    isRead(query) && !connections.isReadingLong ? run(connections.reader, query) : undefined;
}

/** Returns a function that runs queries in the write transaction, unless other requests should run first. */
export function writingAtOnce(connections: SharedConnections): RunAtOnce {
  return (query) => (connections.isBlocking ? undefined : run(connections.writer, query));
}

class SqliteDriver implements Driver {
  readonly #shared: SharedConnections;

  constructor(shared: SharedConnections) {
    this.#shared = shared;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<SqliteSession> {
    return new SqliteSession(this.#shared);
  }

  async releaseConnection(connection: DatabaseConnection): Promise<void> {
    (connection as SqliteSession).end();
  }

  async beginTransaction(connection: DatabaseConnection, settings: TransactionSettings): Promise<void> {
    const session = connection as SqliteSession;
    if (settings.accessMode === 'read only') session.beginReading();
    else await session.beginWriting();
  }

  async commitTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as SqliteSession).finish('commit');
  }

  async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    (connection as SqliteSession).finish('rollback');
  }

  async destroy(): Promise<void> {
    await this.#shared.close();
  }
}

class SqliteSession implements DatabaseConnection {
  readonly #shared: SharedConnections;
  #transaction: StatementCache | undefined;
  #pass: (() => void) | undefined;

  constructor(shared: SharedConnections) {
    this.#shared = shared;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    if (this.#transaction !== undefined) {
      await this.#letOthersRun();
      return run(this.#transaction, query);
    }
    if (isRead(query)) {
      await this.#letOthersRun();
      return run(this.#shared.reader, query);
    }
    const release = await this.#shared.lockForWritingWithRoom();
    try {
      const result = await whenUnlocked(() => run<R>(this.#shared.writer, query));
      this.#shared.committed();
      return result;
    } finally {
      release();
    }
  }

  // biome-ignore lint/correctness/useYield: the engine returns all rows at once; Kysely requires a generator.
  async *streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('streaming is not supported on SQLite: read in pages instead');
  }

  // IMMEDIATE: if another process writes, a deferred transaction fails immediately when it becomes a write transaction.
  async beginWriting(): Promise<void> {
    this.#pass = await this.#shared.lockForWritingWithRoom();
    await whenUnlocked(() => execute(this.#shared.file.writer, 'begin immediate'));
    this.#transaction = this.#shared.writer;
    this.#shared.begun();
  }

  /** Lets other requests run between two statements of a long write transaction, or of long reads. */
  async #letOthersRun(): Promise<void> {
    if (this.#transaction !== this.#shared.writer) {
      // Yields only once: under load, newer requests could use up every following tick too.
      if (this.#shared.isReadingLong) await setImmediate();
    } else if (this.#shared.isBlocking) {
      await setImmediate();
      this.#shared.yielded();
    }
  }

  /** Begins to read from a snapshot, which later commits do not change. */
  beginReading(): void {
    const reader = this.#shared.takeSnapshotReader();
    this.#transaction = reader;
    execute(reader.database, 'begin');
  }

  finish(command: 'commit' | 'rollback'): void {
    // On a full disk SQLite rolls back by itself. A second rollback would fail and hide the first error.
    if (command === 'rollback' && !this.#transaction?.database.isTransaction) return;
    if (this.#transaction !== undefined) execute(this.#transaction.database, command);
    if (command === 'commit' && this.#transaction === this.#shared.writer) this.#shared.committed();
  }

  end(): void {
    const transaction = this.#transaction;
    if (transaction !== undefined && transaction !== this.#shared.writer) {
      this.#shared.returnSnapshotReader(transaction);
    }
    this.#transaction = undefined;
    this.#pass?.();
    this.#pass = undefined;
  }
}

function isRead({ query, sql }: CompiledQuery): boolean {
  return query.kind === 'SelectQueryNode' || (query.kind === 'RawNode' && /^\s*select\b/i.test(sql));
}

function run<R>(statements: StatementCache, { sql, parameters }: CompiledQuery): QueryResult<R> {
  try {
    return statements.run<R>(sql, parameters);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

function execute(database: SqliteDatabase, command: string): void {
  try {
    database.exec(command);
  } catch (error) {
    throw translateSqliteError(error);
  }
}

/** Runs `action`, and retries while another process holds the lock, without blocking the event loop. */
async function whenUnlocked<Result>(action: () => Result): Promise<Result> {
  const deadline = performance.now() + lockWaitMilliseconds;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (!isBusy((error as Error).cause) || performance.now() > deadline) throw error;
    }
    await delay(lockRetryMilliseconds);
  }
}
