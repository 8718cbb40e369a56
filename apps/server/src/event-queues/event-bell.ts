import type { Signals } from '@waxwing/storage';
import type { ServerTransaction } from '../tables.js';

/** Why waiting ended: something happened to the queue, nothing did for as long as allowed, or nobody listens any more. */
export type Awakening = 'rung' | 'quiet' | 'gone';

const channel = 'event-queues';

/**
 * Wakes requests that wait for events, in whichever process they wait. One listens to each queue in a process: a newer
 * one takes its place.
 */
export class EventBell {
  readonly #signals: Signals;
  readonly #listeners = new Map<string, Listener>();

  private constructor(signals: Signals) {
    this.#signals = signals;
  }

  /** The bell of this process, and what takes it down. */
  static async hang(signals: Signals): Promise<{ bell: EventBell; takeDown: () => void }> {
    const bell = new EventBell(signals);
    const takeDown = await signals.listen(channel, (queueId) => bell.#wake(queueId));
    return { bell, takeDown };
  }

  /** Starts listening, so that what happens between now and {@link Listener.wait} is not missed. */
  listen(queueId: string): Listener {
    this.#listeners.get(queueId)?.replace();
    const listener = new Listener(() => {
      if (this.#listeners.get(queueId) === listener) this.#listeners.delete(queueId);
    });
    this.#listeners.set(queueId, listener);
    return listener;
  }

  /** Tells of something that happens to the queue, once the transaction is committed. */
  async ring(transaction: ServerTransaction, queueId: string): Promise<void> {
    await this.#signals.notify(transaction, channel, queueId);
  }

  /** Without a queue's id something may have been missed: everybody has to look. */
  #wake(queueId: string | undefined): void {
    if (queueId !== undefined) this.#listeners.get(queueId)?.ring();
    else for (const listener of this.#listeners.values()) listener.ring();
  }
}

export class Listener {
  readonly #onClose: () => void;
  #state: Awakening = 'quiet';
  #wake: () => void = () => undefined;

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  /** Waits until the bell rings (which it may have done already), `milliseconds` have passed, or `signal` is aborted. */
  async wait(milliseconds: number, signal: AbortSignal): Promise<Awakening> {
    if (signal.aborted) return 'gone';
    if (this.#state === 'quiet') await this.#sleep(milliseconds, signal);
    const state = signal.aborted ? 'gone' : this.#state;
    if (this.#state === 'rung') this.#state = 'quiet';
    return state;
  }

  ring(): void {
    if (this.#state === 'quiet') this.#state = 'rung';
    this.#wake();
  }

  replace(): void {
    this.#state = 'gone';
    this.#wake();
  }

  close(): void {
    this.#onClose();
  }

  async #sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = promiseWithResolver();
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', resolve, { once: true });
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
    signal.removeEventListener('abort', resolve);
  }
}

function promiseWithResolver(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
