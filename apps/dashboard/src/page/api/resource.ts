import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { ApiError } from './request.js';

/** State of a resource. `ready` keeps the last response while a later load is in flight or has failed. */
export type Loaded<Answer> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'ready'; readonly answer: Answer; readonly error?: string };

/** Exposes a response as a signal that can be reloaded, or set from the response to a change. */
export class Resource<Answer> {
  readonly #state: Signal<Loaded<Answer>> = signal({ kind: 'loading' });
  readonly #fetch: (signal: AbortSignal) => Promise<Answer>;
  #running = new AbortController();

  constructor(fetch: (signal: AbortSignal) => Promise<Answer>) {
    this.#fetch = fetch;
  }

  get state(): ReadonlySignal<Loaded<Answer>> {
    return this.#state;
  }

  set(answer: Answer): void {
    this.#running.abort();
    this.#state.value = { kind: 'ready', answer };
  }

  /** Loads the resource. Aborts an earlier load that is still in flight. */
  async load(): Promise<void> {
    this.#running.abort();
    const running = new AbortController();
    this.#running = running;
    try {
      const answer = await this.#fetch(running.signal);
      if (!running.signal.aborted) this.#state.value = { kind: 'ready', answer };
    } catch (error) {
      if (running.signal.aborted) return;
      const before = this.#state.value;
      const sentence = sentenceOf(error);
      this.#state.value =
        before.kind === 'ready'
          ? { kind: 'ready', answer: before.answer, error: sentence }
          : { kind: 'failed', error: sentence };
    }
  }
}

/** Returns the message of a failure for the operator. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof ApiError))
    return 'This page has a bug. Reload it; if the problem persists, report it.';
  const { retryAfterSeconds: seconds } = error;
  return seconds === undefined ? error.message : `${error.message} Try again in ${seconds} s.`;
}
