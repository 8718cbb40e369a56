import type { Exchange } from './exchange.js';

/**
 * Tells the work of exchanges that the service closes. A signal made of that of closing would do so too, but Node keeps a
 * trace of each such signal for as long as the older one lives, which is as long as the process.
 */
export class ClosingExchanges {
  readonly #closing: AbortSignal;
  readonly #told = new Set<Exchange>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
    const tellAll = (): void => {
      for (const exchange of this.#told) exchange.abort();
    };
    closing.addEventListener('abort', tellAll, { once: true });
  }

  /** How many would be told now. */
  get count(): number {
    return this.#told.size;
  }

  /** The exchange's signal, which is aborted when the service closes too. */
  signalOf(exchange: Exchange): AbortSignal {
    if (this.#closing.aborted) exchange.abort();
    else if (!this.#told.has(exchange)) {
      this.#told.add(exchange);
      exchange.whenOver(() => this.#told.delete(exchange));
    }
    return exchange.signal;
  }
}
