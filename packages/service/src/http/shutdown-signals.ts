import type { Exchange } from './exchange.js';

/**
 * Aborts the signals of exchanges when the service closes. `AbortSignal.any` would do this too, but Node would keep a
 * reference from the closing signal to each derived signal for the lifetime of the process.
 */
export class ShutdownSignals {
  readonly #closing: AbortSignal;
  readonly #exchanges = new Set<Exchange>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
    const abortAll = (): void => {
      for (const exchange of this.#exchanges) exchange.abort();
    };
    closing.addEventListener('abort', abortAll, { once: true });
  }

  /** Number of exchanges that would be aborted if the service closed now. */
  get count(): number {
    return this.#exchanges.size;
  }

  /** Returns the exchange's signal, which from then on is also aborted when the service closes. */
  signalOf(exchange: Exchange): AbortSignal {
    if (this.#closing.aborted) exchange.abort();
    else if (!this.#exchanges.has(exchange)) {
      this.#exchanges.add(exchange);
      exchange.onEnd(() => this.#exchanges.delete(exchange));
    }
    return exchange.signal;
  }
}
