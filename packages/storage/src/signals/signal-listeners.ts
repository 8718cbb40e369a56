import type { SignalListener } from './signals.js';

/** Who listens to which channel in this process. */
export class SignalListeners {
  readonly #byChannel = new Map<string, Set<SignalListener>>();
  readonly #onError: (error: unknown) => void;

  /** `onError` is told of a listener that threw. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  add(channel: string, listener: SignalListener): () => void {
    // Wrapped, so that a function that listens twice is called twice and stops once at a time.
    const entry: SignalListener = (payload) => listener(payload);
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(entry));
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#byChannel.get(channel) === listeners) this.#byChannel.delete(channel);
    };
  }

  tell(channel: string, payload: string): void {
    for (const listener of [...(this.#byChannel.get(channel) ?? [])]) this.#call(listener, payload);
  }

  tellAllOfGap(): void {
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
