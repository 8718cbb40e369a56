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
 * From this size on the write-ahead log is copied back into the database: random pages, such as those of an index, are
 * copied once for many commits that touched them. A log that starts again is cut to it, so that one beyond it has more.
 */
export const checkpointBytes = 32 * 1024 * 1024;

/**
 * The log stays below 256 MB: from this size on no write begins, and a last commit of up to 120 MB finds room in the
 * rest.
 */
const fullBytes = 128 * 1024 * 1024;
// While the log is full, it is tried so often whether its reader has gone; writes between that are refused at once.
const triesAgainAfterMilliseconds = 1000;

export interface LogCheckpointsOptions {
  /** The database file itself, which no link leads to. */
  readonly path: string;
  /** Resolves when it is this one's turn to write; the answer passes the turn on. */
  takeTurn(): Promise<() => void>;
  /** Told what went wrong in the background. */
  onError(error: unknown): void;
  /** Called when the thread does not work: the writer copies back for itself from now on. */
  copyInline(): void;
  /** Has the writer make the log empty, where the thread does not work; whether it is. */
  emptyInline(): boolean;
  /** Starts the thread; it may throw, such as where the system has no thread left. `startCheckpointThread` in programs. */
  startThread(path: string): Worker;
}

/** Bytes of the write-ahead log of the database file at `path`. */
export function logBytesOf(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Starts the thread of checkpoints of the database file at `path`. */
export function startCheckpointThread(path: string): Worker {
  const library = createRequire(import.meta.url).resolve('@photostructure/sqlite');
  const workerData: CheckpointThreadData = { library, path };
  return new Worker(checkpointThread, { eval: true, execArgv: [], workerData });
}

/**
 * Copies the write-ahead log back into the database in a thread of its own, with a connection of its own, so that the
 * event loop goes on. Both threads share one loaded SQLite, which knows of all its files: a lock is never lost by closing
 * one of them. While a reader holds a snapshot, the log grows beyond it, and is copied back when more has come; once it is
 * full, writes are refused until the reader has gone.
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
   * To be called in the turn to write, before a write begins: resolves when the log has room for it.
   * @throws DatabaseUnavailableError when a reader keeps the log full.
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
      `The write-ahead log ${this.#options.path}-wal is full (${Math.round(this.#bytes / 1e6)} MB; no write begins from ` +
        `${Math.round(fullBytes / 1e6)} MB on), as somebody has been reading from the database since it ` +
        'was short: end the backup, the export or the open transaction of sqlite3.',
    );
  }

  /** To be called after each commit; returns at once. It never throws: what is committed would pass for failed. */
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
    // Otherwise a process that has nothing else to do would end before it.
    worker.ref();
    worker.postMessage('end' satisfies CheckpointOrder);
    await ended;
  }

  async #empty(): Promise<boolean> {
    if (!this.#isOver && (await this.#ask('empty'))) return true;
    // Also where the thread ended, or could not start, just now.
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
      // A reader that holds a snapshot holds all of it back: no use in trying again before there is much more.
      if (await this.#ask('copy')) await this.#finish();
      this.#nextBytes = logBytesOf(this.#options.path) + checkpointBytes / 2;
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isCopying = false;
    }
  }

  /**
   * Copies back what came while the thread did, so that the log starts again; writes wait for it, the event loop does
   * not.
   */
  async #finish(): Promise<void> {
    const pass = await this.#options.takeTurn();
    try {
      if (!this.#isOver) await this.#ask('finish');
    } finally {
      pass();
    }
  }

  /** Resolves with whether the thread has done all of it: not, when it cannot start or ends meanwhile. */
  async #ask(order: CheckpointOrder): Promise<boolean> {
    try {
      this.#worker ??= this.#startWorker();
    } catch (error) {
      this.#giveUp(error);
      return false;
    }
    // Writes wait for the answer: a process that has nothing else to do ends only after them.
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
      if (!this.#isOver) this.#giveUp(new Error(`the thread of checkpoints ended with code ${code}`));
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
