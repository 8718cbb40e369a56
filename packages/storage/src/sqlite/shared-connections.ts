import type { DatabaseRole } from '../backend.js';
import { LogCheckpoints, startCheckpointThread } from './log-checkpoints.js';
import type { SqliteFile } from './open-sqlite.js';
import { StatementCache } from './statement-cache.js';

// SQLite's own default, 4 MiB of log.
const inlineCheckpointPages = 1000;

/** Who looks after the write-ahead log of the file that is written to. */
type LogKeeper = Pick<LogCheckpoints, 'makeRoom' | 'committed' | 'close'>;

/** In a thread that helps: the thread that it helps gives it turns, and looks after the log. */
const keptElsewhere: LogKeeper = {
  makeRoom: async () => undefined,
  committed: () => undefined,
  close: async () => undefined,
};

export interface SharedConnectionsOptions {
  readonly role: DatabaseRole;
  /** Told of what goes wrong with the write-ahead log. */
  onError(error: unknown): void;
}

/** The two connections of one thread, and the queue of those who want to write. */
export class SharedConnections {
  readonly file: SqliteFile;
  readonly writer: StatementCache;
  readonly reader: StatementCache;
  readonly #log: LogKeeper;
  readonly #options: SharedConnectionsOptions;
  #tail: Promise<void> = Promise.resolve();

  constructor(file: SqliteFile, options: SharedConnectionsOptions) {
    const { role, onError } = options;
    this.#options = options;
    this.file = file;
    this.writer = new StatementCache(file.writer);
    this.reader = new StatementCache(file.openReader());
    this.#log = role === 'helping' ? keptElsewhere : this.#keepLog(onError);
  }

  /** To be called after each commit. */
  committed(): void {
    this.#log.committed();
  }

  /** Resolves when it is this one's turn to write, and the log has room; the answer passes the turn on. */
  async takeTurnToWrite(): Promise<() => void> {
    const pass = await this.takeTurn();
    try {
      await this.#log.makeRoom();
    } catch (error) {
      pass();
      throw error;
    }
    return pass;
  }

  /** Resolves when it is this one's turn; the answer passes the turn on. */
  async takeTurn(): Promise<() => void> {
    const previous = this.#tail;
    let pass = (): void => {};
    this.#tail = new Promise((resolve) => {
      pass = resolve;
    });
    await previous;
    return pass;
  }

  async close(): Promise<void> {
    await this.#log.close();
    if (this.#options.role === 'serving') this.#copyLogBack();
    this.reader.close();
    this.writer.close();
  }

  /**
   * Makes the file whole by itself, so that whoever copies it after a stop has all of it. SQLite does that with the last
   * connection, but takes one for open while statements of it wait for the garbage collector.
   */
  #copyLogBack(): void {
    try {
      this.file.writer.prepare('pragma wal_checkpoint(truncate)').get();
    } catch (error) {
      // All of it is in the log, which the next start reads.
      this.#options.onError(error);
    }
  }

  #keepLog(onError: (error: unknown) => void): LogCheckpoints {
    const { path, writer } = this.file;
    return new LogCheckpoints({
      path,
      takeTurn: () => this.takeTurn(),
      copyInline: () => writer.exec(`pragma wal_autocheckpoint = ${inlineCheckpointPages}`),
      emptyInline: () => writer.prepare('pragma wal_checkpoint(truncate)').get()?.busy === 0,
      startThread: startCheckpointThread,
      onError,
    });
  }
}
