import type { IncomingMessage, ServerResponse } from 'node:http';

// Created once, because capturing a stack trace for each request would cost more than all other work at the end of the
// request.
const endOfExchange = new DOMException('This exchange has ended', 'AbortError');

/** One request and its response, until the response is sent or the client disconnects. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Whether the connection is above the connection limit. If so, only health requests are allowed. */
  readonly isSurplus: boolean;
  /** When the request was queued for an event-loop tick, by `performance.now()`. */
  receivedAt = performance.now();
  /**
   * Key by which clients share event-loop time: the authenticated actor of the connection, or its address if there is
   * none.
   */
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
    // Ends a request that has no connection, such as one that a test injects.
    response.once('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** @throws AbortError if the exchange is over. */
  requireClient(): void {
    if (this.#isOver) throw endOfExchange;
  }

  /** Aborted when the exchange is over, or when {@link abort} requests that the handler finish early. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort(endOfExchange);
    }
    return this.#abort.signal;
  }

  /** Makes the handler finish early. Its answer is still sent. */
  abort(): void {
    this.#isAborted = true;
    this.#abort?.abort(endOfExchange);
  }

  /**
   * Registers a listener for the end of the exchange. Listeners are called once, in reverse order. If the exchange is
   * already over, calls the listener at once.
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
