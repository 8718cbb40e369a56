import type { IncomingMessage, ServerResponse } from 'node:http';

// Created once: capturing a stack trace for each request would cost more than all other work at the request's end.
const endOfExchange = new DOMException('This exchange has come to its end', 'AbortError');

/** One request and its response, until the response is sent or the client has disconnected. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the connection is above the connection limit and may only request health. */
  readonly isSurplus: boolean;
  /** When the request was queued for its tick, by `performance.now()`. */
  receivedAt = performance.now();
  /** The key for sharing event-loop time: the connection's authenticated actor, or else its address. */
  clientKey = '';
  /** The authenticated actor; `undefined` before authentication. */
  actor: string | undefined;
  #abort: AbortController | undefined;
  #isAborted = false;
  #isOver = false;
  #endListeners: (() => void)[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, isSurplus = false) {
    this.request = request;
    this.response = response;
    this.isSurplus = isSurplus;
    // Ends a request that came without a connection, such as one that a test injects.
    response.once('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws AbortError if the exchange is over. */
  requireClient(): void {
    if (this.#isOver) throw endOfExchange;
  }

  /** Aborted when the exchange is over, or when {@link abort} requests the response now. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort(endOfExchange);
    }
    return this.#abort.signal;
  }

  /** Makes the handler finish early. Its response is still sent. */
  abort(): void {
    this.#isAborted = true;
    this.#abort?.abort(endOfExchange);
  }

  /**
   * Registers a listener for the end of the exchange. Listeners are called once, in reverse order. If the exchange is
   * already over, calls it at once.
   */
  onEnd(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#endListeners.push(listener);
  }

  /** Idempotent: `close` may fire on either stream first, or not at all. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = this.#endListeners;
    this.#endListeners = [];
    for (const listener of listeners.reverse()) listener();
    this.abort();
  }
}
