import type { SignalListener } from './signals.js';

/** The listeners of this process, by channel. */
export class SignalListeners {
  readonly #byChannel = new Map<string, Set<SignalListener>>();
  readonly #onError: (error: unknown) => void;

  /** @param onError is called with errors that listeners throw */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(channel: string, listener: SignalListener): () => void {
    // Wrapped, so that a function registered twice is called twice and each registration ends separately.
    const entry: SignalListener = (payload) => listener(payload);
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(entry));
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#byChannel.get(channel) === listeners) this.#byChannel.delete(channel);
    };
  }

  notify(channel: string, payload: string): void {
    for (const listener of [...(this.#byChannel.get(channel) ?? [])]) this.#call(listener, payload);
  }

  notifyAllOfGap(): void {
    for (const listener of [...this.#byChannel.values()].flatMap((set) => [...set])) {
      this.#call(listener, undefined);
    }
  }

  #call(listener: SignalListener, payload: string | undefined): void {
    try {
      listener(payload);
    } catch (error) {
      this.#onError(error);
    }
  }
}
