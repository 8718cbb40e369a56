import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { onEarlyTickEnd } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { type Database, DatabaseUnavailableError } from '@waxwing/storage';
import type { RegistrationOutcome } from '../registrations/opening/registration-batches.js';
import type { RegistrationToWrite, RegistrationWriter } from '../registrations/write/registration-writer.js';
import type { ThreadAnswer, ThreadOrder, WriteAnswer, WriteOrder } from './thread-messages.js';

export interface ThreadedWriterOptions {
  readonly database: Pick<Database<unknown>, 'withWriteLock'>;
  readonly log: Log;
  /** Writer to use while no thread is ready. */
  readonly inline: RegistrationWriter;
  /** `startRegistrationThread` in production. May throw, for example if the system cannot create another thread. */
  startThread(answers: MessagePort): Worker;
}

interface PendingWrite {
  readonly order: WriteOrder;
  resolve(outcomes: readonly RegistrationOutcome[]): void;
  reject(reason: unknown): void;
}

/** Number of registrations in one event-loop tick that justifies the memory cost of a thread. */
const manyRegistrations = 16;
/** Maximum number of orders per commit. It limits a commit to about ten milliseconds. */
const maximumOrdersAtOnce = 8;

/**
 * Writes registrations in a worker thread with its own SQLite connection, so that statements and disk access do not
 * block the event loop. The thread starts at the first large batch and then keeps running; a relay with little traffic
 * never starts it. If the thread ends, writes return to the event loop.
 */
export class ThreadedWriter implements RegistrationWriter {
  readonly #options: ThreadedWriterOptions;
  #waiting: PendingWrite[] = [];
  #isWriting = false;
  #thread: Worker | undefined;
  /** Resolves when the thread has ended. */
  #ended: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isOver = false;
  /** Settles the promise of the orders in flight. */
  #answered: { resolve(answers: readonly WriteAnswer[]): void; reject(reason: unknown): void } | undefined;

  constructor(options: ThreadedWriterOptions) {
    this.#options = options;
  }

  get isIdle(): boolean {
    return this.#isReady && !this.#isWriting;
  }

  write(registrations: readonly RegistrationToWrite[], now: number): Promise<readonly RegistrationOutcome[]> {
    if (!this.#isReady) {
      if (registrations.length >= manyRegistrations) this.#start();
      return this.#options.inline.write(registrations, now);
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ order: { registrations, now }, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  /**
   * Ends the thread. Call it when no write is in flight. Resolves when the thread has ended and its connection is
   * closed.
   */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#isReady = false;
    this.#thread?.ref();
    this.#thread?.postMessage('end' satisfies ThreadOrder);
    await this.#ended;
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      if (this.#isReady) await this.#writeSome();
      else for (const each of this.#waiting.splice(0)) this.#writeInline(each);
    }
    this.#isWriting = false;
  }

  async #writeSome(): Promise<void> {
    let some: PendingWrite[] = [];
    try {
      await this.#options.database.withWriteLock(async () => {
        // The thread may have ended during the wait for the write lock.
        if (!this.#isReady) return;
        some = this.#waiting.splice(0, maximumOrdersAtOnce);
        const answers = await this.#ask(some.map(({ order }) => order));
        for (const [index, waiting] of some.entries()) settle(waiting, answers[index]);
      });
    } catch (error) {
      if (some.length === 0) some = this.#waiting.splice(0);
      for (const { reject } of some) reject(error);
    }
  }

  #writeInline({ order: { registrations, now }, resolve, reject }: PendingWrite): void {
    this.#options.inline.write(registrations, now).then(resolve, reject);
  }

  #ask(orders: ThreadOrder): Promise<readonly WriteAnswer[]> {
    return new Promise((resolve, reject) => {
      this.#answered = { resolve, reject };
      this.#thread?.postMessage(orders);
    });
  }

  #start(): void {
    if (this.#thread !== undefined || this.#isOver) return;
    // A separate port, because a busy event loop may delay a worker's `message` events for a second.
    const { port1: answers, port2: toThread } = new MessageChannel();
    try {
      const thread = this.#options.startThread(toThread);
      this.#thread = thread;
      thread.unref();
      answers.on('message', (answer: ThreadAnswer) => this.#receive(answer)).unref();
      const stopLooking = onEarlyTickEnd(() => this.#receiveAll(answers));
      let reason: unknown = new Error('the thread ended');
      thread.on('error', (error) => {
        reason = error;
      });
      // Wait for the thread's exit, because SQLite releases its locks only then.
      this.#ended = new Promise((resolve) => thread.on('exit', resolve)).then(() => {
        stopLooking();
        // The exit event may arrive before the last answer, so receive the answers first.
        this.#receiveAll(answers);
        this.#giveUp(reason);
      });
    } catch (error) {
      answers.close();
      this.#giveUp(error);
    }
  }

  #receiveAll(answers: MessagePort): void {
    for (let next = receiveMessageOnPort(answers); next !== undefined; next = receiveMessageOnPort(answers)) {
      this.#receive(next.message);
    }
  }

  #receive(answer: ThreadAnswer): void {
    if (answer === 'ready') this.#isReady = !this.#isOver;
    else if ('trouble' in answer) this.#complain(answer.trouble, 'a connection to the database failed');
    else this.#answered?.resolve(answer);
  }

  #giveUp(error: unknown): void {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#isReady = false;
    const sentence = 'It is unknown whether the registration was stored: the thread that wrote it has ended.';
    this.#answered?.reject(new DatabaseUnavailableError(sentence, { cause: error }));
    if (!wasOver)
      this.#complain(
        error,
        'registrations are written on the event loop, because the worker thread ended or could not be started',
      );
  }

  #complain(err: unknown, sentence: string): void {
    this.#options.log.error({ err }, sentence);
  }
}

function settle({ resolve, reject }: PendingWrite, answer: WriteAnswer | undefined): void {
  if (answer === undefined)
    reject(new Error('the registration thread did not return a result for one of the registrations'));
  else if ('outcomes' in answer) resolve(answer.outcomes);
  else reject(answer.isUnavailable ? unavailable(answer.error) : answer.error);
}

/** Restores the error's class, which is lost when the error is sent between threads. */
function unavailable(cause: Error): DatabaseUnavailableError {
  return new DatabaseUnavailableError(cause.message, { cause });
}
