/** Why waiting ended: something happened to the queue, nothing did for as long as allowed, or nobody listens any more. */
export type Awakening = 'rung' | 'quiet' | 'gone';

/** Wakes the requests of this process that wait for events. One listens to each queue: a newer one takes its place. */
export class EventBell {
  readonly #listeners = new Map<string, Listener>();

  /** Starts listening, so that what happens between now and {@link Listener.wait} is not missed. */
  listen(queueId: string): Listener {
    this.#listeners.get(queueId)?.replace();
    const listener = new Listener(() => {
      if (this.#listeners.get(queueId) === listener) this.#listeners.delete(queueId);
    });
    this.#listeners.set(queueId, listener);
    return listener;
  }

  /** Something happened to the queue. */
  ring(queueId: string): void {
    this.#listeners.get(queueId)?.ring();
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
