import type { IncomingMessage, ServerResponse } from 'node:http';

// Created once: capturing a stack trace at the end of each request would cost more than all other work there.
const endOfExchange = new DOMException('This exchange has ended', 'AbortError');

/** One request and its response, until the response is sent or the client disconnects. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the connection exceeds the connection limit. If so, only health requests are allowed. */
  readonly isSurplus: boolean;
  /** When the request was queued for an event-loop tick, from `performance.now()`. */
  receivedAt = performance.now();
  /**
   * Key for sharing event-loop time between clients: the authenticated actor on the connection or, if there is none,
   * the client's address.
   */
  clientKey = '';
  /** The authenticated actor; `undefined` before authentication. */
  actor: string | undefined;
  /** Whether the request's operation shares commits. False before authentication. */
  sharesCommits = false;
  #abort: AbortController | undefined;
  #isAborted = false;
  #isOver = false;
  #endListeners: (() => void)[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, isSurplus = false) {
    this.request = request;
    this.response = response;
    this.isSurplus = isSurplus;
    // Ends a request that has no connection, such as a request injected by a test.
    response.once('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws AbortError if the exchange has ended. */
  requireClient(): void {
    if (this.#isOver) throw endOfExchange;
  }

  /** Aborted when the exchange ends, or when {@link abort} tells the handler to finish early. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort(endOfExchange);
    }
    return this.#abort.signal;
  }

  /** Tells the handler to finish early. Its response is still sent. */
  abort(): void {
    this.#isAborted = true;
    this.#abort?.abort(endOfExchange);
  }

  /**
   * Registers a listener for the end of the exchange. Listeners are called once, in reverse order. If the exchange has
   * already ended, calls the listener immediately.
   */
  onEnd(listener: () => void): void {
    if (this.#isOver) listener();
    else this.#endListeners.push(listener);
  }

  /** Ends the exchange. Idempotent, because `close` may fire on either stream first, or not at all. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const listeners = this.#endListeners;
    this.#endListeners = [];
    for (const listener of listeners.reverse()) listener();
    this.abort();
  }
}
