import type { DatabaseRole } from '../backend.js';
import { LogCheckpoints, startCheckpointThread } from './log-checkpoints.js';
import type { SqliteFile } from './open-sqlite.js';
import { StatementCache } from './statement-cache.js';

// SQLite's default: a checkpoint after 4 MiB of log.
const inlineCheckpointPages = 1000;

/** Time after which other requests run before the next statement, because statements run synchronously. */
const blockingMilliseconds = 10;

/** Time before a write transaction yields. Most groups of short writes end earlier. */
const breaklessMilliseconds = 50;

/** Maximum readers to keep. More are rarely in use at the same time. Each keeps up to 2 MiB of pages in memory. */
const maximumIdleSnapshotReaders = 3;

/** Maintains the write-ahead log of the writer's file. */
type LogKeeper = Pick<LogCheckpoints, 'makeRoom' | 'committed' | 'close'>;

/** Log keeper of a `helping` thread: a no-op, because the main thread maintains the log and holds the write lock. */
const keptElsewhere: LogKeeper = {
  makeRoom: async () => undefined,
  committed: () => undefined,
  close: async () => undefined,
};

export interface SharedConnectionsOptions {
  readonly role: DatabaseRole;
  /** Called with errors of the write-ahead log's maintenance. */
  onError(error: unknown): void;
}

/** The connections of one thread, with the queue for the write lock. */
export class SharedConnections {
  readonly file: SqliteFile;
  readonly writer: StatementCache;
  readonly reader: StatementCache;
  readonly #log: LogKeeper;
  readonly #options: SharedConnectionsOptions;
  readonly #idleSnapshotReaders: StatementCache[] = [];
  #isClosed = false;
  #tail: Promise<void> = Promise.resolve();
  /** When the write transaction should let other requests run. */
  #yieldsAt = 0;
  /** When the first read in this event-loop tick began; `undefined` before the first read. */
  #readingSince: number | undefined;

  constructor(file: SqliteFile, options: SharedConnectionsOptions) {
    const { role, onError } = options;
    this.#options = options;
    this.file = file;
    this.writer = new StatementCache(file.writer);
    this.reader = new StatementCache(file.openReader());
    this.#log = role === 'helping' ? keptElsewhere : this.#keepLog(onError);
  }

  /** Whether the write transaction should let other requests run before its next statement. */
  get isBlocking(): boolean {
    return performance.now() > this.#yieldsAt;
  }

  /** Whether reads in this event-loop tick should let other requests run before the next read. Get this before each read. */
  get isReadingLong(): boolean {
    if (this.#readingSince !== undefined) {
      return performance.now() - this.#readingSince > blockingMilliseconds;
    }
    this.#readingSince = performance.now();
    setImmediate(() => {
      this.#readingSince = undefined;
    });
    return false;
  }

  /** Call this when a write transaction that is known to be long begins, and whenever it has let the event loop run. */
  yielded(): void {
    this.#yieldsAt = performance.now() + blockingMilliseconds;
  }

  /** Call this when a write transaction begins. */
  begun(): void {
    this.#yieldsAt = performance.now() + breaklessMilliseconds;
  }

  /** Call this after each commit. */
  committed(): void {
    this.#log.committed();
  }

  /** Resolves once the write lock is acquired and the log has room. Call the returned function to release the lock. */
  async lockForWritingWithRoom(): Promise<() => void> {
    const release = await this.lockForWriting();
    try {
      await this.#log.makeRoom();
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }

  /** Resolves once the write lock is acquired, in FIFO order. Call the returned function to release it. */
  async lockForWriting(): Promise<() => void> {
    const previous = this.#tail;
    let release = (): void => {};
    this.#tail = new Promise((resolve) => {
      release = resolve;
    });
    await previous;
    return release;
  }

  /**
   * Returns a connection for reading a snapshot, without an open transaction. Give it back with {@link
   * returnSnapshotReader}.
   */
  takeSnapshotReader(): StatementCache {
    return this.#idleSnapshotReaders.pop() ?? new StatementCache(this.file.openReader());
  }

  /**
   * Keeps the connection and its prepared statements for the next snapshot, because opening a connection takes
   * milliseconds.
   */
  returnSnapshotReader(reader: StatementCache): void {
    const isFull = this.#idleSnapshotReaders.length >= maximumIdleSnapshotReaders;
    // After a failed commit the transaction is still open, and would keep its snapshot in the log.
    if (this.#isClosed || isFull || reader.database.isTransaction) reader.close();
    else this.#idleSnapshotReaders.push(reader);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#log.close();
    if (this.#options.role === 'serving') this.#copyLogBack();
    for (const reader of this.#idleSnapshotReaders.splice(0)) reader.close();
    this.reader.close();
    this.writer.close();
  }

  /**
   * Runs a checkpoint explicitly, so that after shutdown the database file is complete without its log. SQLite does
   * that when the last connection closes, but counts a connection as open until its statements are garbage-collected.
   */
  #copyLogBack(): void {
    try {
      this.file.writer.prepare('pragma wal_checkpoint(truncate)').get();
    } catch (error) {
      // No data is lost: the log still contains the data, and the next start reads the log.
      this.#options.onError(error);
    }
  }

  #keepLog(onError: (error: unknown) => void): LogCheckpoints {
    const { path, writer } = this.file;
    return new LogCheckpoints({
      path,
      lockForWriting: () => this.lockForWriting(),
      copyInline: () => writer.exec(`pragma wal_autocheckpoint = ${inlineCheckpointPages}`),
      emptyInline: () => writer.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0,
      startThread: startCheckpointThread,
      onError,
    });
  }
}
