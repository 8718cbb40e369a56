import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { DatabaseUnavailableError } from '../database-unavailable-error.js';
import {
  type CheckpointAnswer,
  type CheckpointOrder,
  type CheckpointThreadData,
  checkpointThread,
} from './checkpoint-thread.js';

/**
 * Log size at which a checkpoint starts. In a large log, many commits change the same page, such as an index page, and
 * the checkpoint copies that page only once. A restarted log is truncated to this size, so a longer log contains new
 * content.
 */
export const checkpointBytes = 32 * 1024 * 1024;

/** Log size at which writes are refused. Even after a last commit of up to 120 MB, the log is below 256 MB. */
const fullBytes = 128 * 1024 * 1024;
// Interval between attempts to empty a full log. Between attempts, writes are refused immediately.
const triesAgainAfterMilliseconds = 1000;

export interface LogCheckpointsOptions {
  /** Real path of the database file, with symbolic links resolved. */
  readonly path: string;
  /** Resolves once the write lock is acquired. Call the returned function to release it. */
  lockForWriting(): Promise<() => void>;
  /** Called with errors of background work. */
  onError(error: unknown): void;
  /** Called when the thread fails. From then on, the writer runs checkpoints itself. */
  copyInline(): void;
  /** Truncates the log on the writer's connection after the thread has failed. Returns whether the log is empty. */
  emptyInline(): boolean;
  /**
   * Starts the thread. May throw, for instance if the system has no threads left. In production this is
   * `startCheckpointThread`.
   */
  startThread(path: string): Worker;
}

/** Returns the size in bytes of the write-ahead log of the database file at `path`; 0 if there is no log. */
export function logBytesOf(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Starts the checkpoint thread for the database file at `path`. */
export function startCheckpointThread(path: string): Worker {
  const library = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const workerData: CheckpointThreadData = { library, path };
  return new Worker(checkpointThread, { eval: true, execArgv: [], workerData });
}

/**
 * Checkpoints the write-ahead log in a thread with its own connection, so that the event loop is not blocked. Both
 * threads share one loaded SQLite library, which tracks all its open files, so closing one file never drops the POSIX
 * locks of another. A reader with a snapshot prevents a complete checkpoint, so the log grows. Once the log is full,
 * writes are refused until the reader ends.
 */
export class LogCheckpoints {
  readonly #options: LogCheckpointsOptions;
  readonly #waiting: ((isWhole: boolean) => void)[] = [];
  #worker: Worker | undefined;
  #isCopying = false;
  #isOver = false;
  #nextBytes = checkpointBytes;
  #bytes: number;
  #refusesUntil = Number.NEGATIVE_INFINITY;

  constructor(options: LogCheckpointsOptions) {
    this.#options = options;
    this.#bytes = logBytesOf(options.path);
  }

  /**
   * Call this while holding the write lock, before a write begins. Resolves when the log has room.
   *
   * @throws DatabaseUnavailableError if a reader keeps the log full
   */
  async makeRoom(): Promise<void> {
    if (this.#bytes < fullBytes) return;
    if (performance.now() >= this.#refusesUntil) {
      const isEmpty = await this.#empty();
      this.#bytes = logBytesOf(this.#options.path);
      if (isEmpty || this.#bytes < fullBytes) return;
      this.#refusesUntil = performance.now() + triesAgainAfterMilliseconds;
    }
    throw new DatabaseUnavailableError(
      `The write-ahead log ${this.#options.path}-wal is full (${Math.round(this.#bytes / 1e6)} MB; writes are refused from ` +
        `${Math.round(fullBytes / 1e6)} MB on), because a reader has kept the database open since it ` +
        'was short: end the backup, the export or the open transaction of sqlite3.',
    );
  }

  /**
   * Call this after each commit. Returns immediately. Never throws: the committed write would then be reported as
   * failed.
   */
  committed(): void {
    try {
      this.#bytes = logBytesOf(this.#options.path);
      if (!this.#isCopying && !this.#isOver) this.#copyWhenLong();
    } catch (error) {
      if (!this.#isOver) this.#giveUp(error);
    }
  }

  /** Resolves when the thread has ended and its connection is closed. */
  async close(): Promise<void> {
    this.#isOver = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    // Without a ref, a process that is otherwise idle would exit before the thread ends.
    worker.ref();
    worker.postMessage('end' satisfies CheckpointOrder);
    await ended;
  }

  async #empty(): Promise<boolean> {
    if (!this.#isOver && (await this.#ask('empty'))) return true;
    // `#isOver` is also true if the thread has just ended or failed to start.
    return this.#isOver && this.#options.emptyInline();
  }

  #copyWhenLong(): void {
    if (this.#bytes <= checkpointBytes) this.#nextBytes = checkpointBytes;
    if (this.#bytes <= this.#nextBytes) return;
    this.#isCopying = true;
    void this.#copy();
  }

  async #copy(): Promise<void> {
    try {
      // A reader's snapshot blocks the rest of the checkpoint. The next attempt waits until the log has grown much
      // more.
      if (await this.#ask('copy')) await this.#finish();
      this.#nextBytes = logBytesOf(this.#options.path) + checkpointBytes / 2;
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isCopying = false;
    }
  }

  /**
   * Copies the writes that arrived during the checkpoint, so that the log can restart. Holds the write lock, but does
   * not block the event loop.
   */
  async #finish(): Promise<void> {
    const release = await this.#options.lockForWriting();
    try {
      if (!this.#isOver) await this.#ask('finish');
    } finally {
      release();
    }
  }

  /** Resolves to whether the thread completed the command. False if the thread cannot start, or ends before it answers. */
  async #ask(order: CheckpointOrder): Promise<boolean> {
    try {
      this.#worker ??= this.#startWorker();
    } catch (error) {
      this.#giveUp(error);
      return false;
    }
    // Writes wait for the answer, so a process that is otherwise idle must not exit before it arrives.
    this.#worker.ref();
    this.#worker.postMessage(order);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #startWorker(): Worker {
    const worker = this.#options.startThread(this.#options.path);
    worker.on('message', ({ isWhole }: CheckpointAnswer) => {
      this.#waiting.shift()?.(isWhole);
      if (this.#waiting.length === 0 && !this.#isOver) worker.unref();
    });
    worker.on('error', (error) => this.#giveUp(error));
    worker.on('exit', (code) => {
      this.#worker = undefined;
      if (!this.#isOver) this.#giveUp(new Error(`the checkpoint thread ended with code ${code}`));
      for (const resolve of this.#waiting.splice(0)) resolve(false);
    });
    return worker;
  }

  #giveUp(error: unknown): void {
    this.#isOver = true;
    try {
      this.#options.copyInline();
    } catch (inlineError) {
      this.#options.onError(inlineError);
    }
    this.#options.onError(error);
  }
}
