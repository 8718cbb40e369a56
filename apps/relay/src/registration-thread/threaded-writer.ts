import { MessageChannel, type MessagePort, receiveMessageOnPort, type Worker } from 'node:worker_threads';
import { onEarlyTickEnd } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { type Database, DatabaseUnavailableError } from '@waxwing/storage';
import type { RegistrationOutcome } from '../registrations/opening/registration-batches.js';
import type { RegistrationToWrite, RegistrationWriter } from '../registrations/write/registration-writer.js';
import type { ThreadAnswer, ThreadOrder, WriteAnswer, WriteOrder } from './thread-messages.js';

export interface ThreadedWriterOptions {
  readonly database: Pick<Database<unknown>, 'inTurn'>;
  readonly log: Log;
  /** Who writes while there is no thread. */
  readonly inline: RegistrationWriter;
  /** `startRegistrationThread` in programs; it may throw, such as where the system has no thread left. */
  startThread(answers: MessagePort): Worker;
}

interface Waiting {
  readonly order: WriteOrder;
  resolve(outcomes: readonly RegistrationOutcome[]): void;
  reject(reason: unknown): void;
}

/** From as many in one turn of the event loop on, a thread is worth its memory. */
const manyRegistrations = 16;
/** What waits for a commit shares the next one, as long as that takes no more than some ten milliseconds. */
const maximumOrdersAtOnce = 8;

/**
 * Writes registrations in a thread, with a connection to SQLite of its own, so that neither the statements nor the disk hold
 * up the event loop. The thread starts when many come at once and stays; a relay that has few to write never has one. When
 * it ends, they are written on the event loop again.
 */
export class ThreadedWriter implements RegistrationWriter {
  readonly #options: ThreadedWriterOptions;
  #waiting: Waiting[] = [];
  #isWriting = false;
  #thread: Worker | undefined;
  /** Resolves when the thread has ended. */
  #ended: Promise<unknown> = Promise.resolve();
  #isReady = false;
  #isOver = false;
  /** Of what the thread was told and has not answered. */
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

  /** To be called when nothing is written any more; resolves when the thread has ended and its connection is closed. */
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
    let some: Waiting[] = [];
    try {
      await this.#options.database.inTurn(async () => {
        // It may have ended while the turn was waited for.
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

  #writeInline({ order: { registrations, now }, resolve, reject }: Waiting): void {
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
    // A thread's own messages come only when the event loop gets to them, which may stay with sockets for a second.
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
      // Only then has SQLite given up what the thread held.
      this.#ended = new Promise((resolve) => thread.on('exit', resolve)).then(() => {
        stopLooking();
        // Its end may be told of before its last answer.
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
    else if ('trouble' in answer) this.#complain(answer.trouble, 'a connection to the database had trouble');
    else this.#answered?.resolve(answer);
  }

  #giveUp(error: unknown): void {
    const wasOver = this.#isOver;
    this.#isOver = true;
    this.#isReady = false;
    const sentence = 'It is not known whether the registration was kept: the thread that wrote it has ended.';
    this.#answered?.reject(new DatabaseUnavailableError(sentence, { cause: error }));
    if (!wasOver)
      this.#complain(error, 'registrations are written on the event loop, as there is no thread for them');
  }

  #complain(err: unknown, sentence: string): void {
    this.#options.log.error({ err }, sentence);
  }
}

function settle({ resolve, reject }: Waiting, answer: WriteAnswer | undefined): void {
  if (answer === undefined) reject(new Error('the thread that writes registrations did not answer for one'));
  else if ('outcomes' in answer) resolve(answer.outcomes);
  else reject(answer.isUnavailable ? unavailable(answer.error) : answer.error);
}

/** A thread's errors arrive without their class. */
function unavailable(cause: Error): DatabaseUnavailableError {
  return new DatabaseUnavailableError(cause.message, { cause });
}
