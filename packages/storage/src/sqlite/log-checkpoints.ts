import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
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

export interface LogCheckpointsOptions {
  /** The database file itself, which no link leads to. */
  readonly path: string;
  /** Copies back what came while the thread did, so that the log starts again; in the caller's turn to write. */
  finish(): Promise<void>;
  /** Told what went wrong in the background. */
  onError(error: unknown): void;
  /** Called when the thread does not work: the writer copies back for itself from now on. */
  copyInline(): void;
}

/**
 * Copies the write-ahead log back into the database in a thread of its own, with a connection of its own, so that the
 * event loop goes on. Both threads share one loaded SQLite, which knows of all its files: a lock is never lost by closing
 * one of them. While a reader holds a snapshot, the log grows beyond it, and is copied back when more has come.
 */
export class LogCheckpoints {
  readonly #options: LogCheckpointsOptions;
  readonly #logPath: string;
  #worker: Worker | undefined;
  #isCopying = false;
  #isOver = false;
  #nextBytes = checkpointBytes;

  constructor(options: LogCheckpointsOptions) {
    this.#options = options;
    this.#logPath = `${options.path}-wal`;
  }

  /** To be called after each commit; returns at once. It never throws: what is committed would pass for failed. */
  committed(): void {
    if (this.#isCopying || this.#isOver) return;
    try {
      this.#copyWhenLong();
    } catch (error) {
      this.#giveUp(error);
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

  #copyWhenLong(): void {
    const bytes = this.#logBytes();
    if (bytes <= checkpointBytes) this.#nextBytes = checkpointBytes;
    if (bytes <= this.#nextBytes) return;
    this.#isCopying = true;
    this.#worker ??= this.#startWorker();
    this.#worker.postMessage('copy' satisfies CheckpointOrder);
  }

  #logBytes(): number {
    return statSync(this.#logPath, { throwIfNoEntry: false })?.size ?? 0;
  }

  #startWorker(): Worker {
    const library = createRequire(import.meta.url).resolve('@photostructure/sqlite');
    const workerData: CheckpointThreadData = { library, path: this.#options.path };
    const worker = new Worker(checkpointThread, { eval: true, execArgv: [], workerData });
    worker.unref();
    worker.on('message', (answer: CheckpointAnswer) => void this.#copied(answer));
    worker.on('error', (error) => this.#giveUp(error));
    worker.on('exit', (code) => {
      this.#worker = undefined;
      if (!this.#isOver) this.#giveUp(new Error(`the thread of checkpoints ended with code ${code}`));
    });
    return worker;
  }

  async #copied({ isWhole }: CheckpointAnswer): Promise<void> {
    try {
      // A reader that holds a snapshot holds all of it back: no use in trying again before there is much more.
      if (isWhole && !this.#isOver) await this.#options.finish();
      this.#nextBytes = this.#logBytes() + checkpointBytes / 2;
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isCopying = false;
    }
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
