import type { IncomingMessage, ServerResponse } from 'node:http';

// Created once: capturing a stack for each would cost more than everything else at the end of most requests.
const endOfExchange = new DOMException('This exchange has come to its end', 'AbortError');

/** One request and its response, until the response is sent or the client has disconnected. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Came over a connection above the connection limit, which may only request health. */
  readonly isSurplus: boolean;
  /** When the request was queued for its tick, by `performance.now()`. */
  receivedAt = performance.now();
  /** The key that event-loop time is split by: the connection's authenticated actor, or else its address. */
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
    // A request without a connection of ours, such as one that a test injects, ends here alone.
    response.once('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted when the exchange is over, or when {@link abort} asks for the response now. */
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

  /** Calls `listener` once at the end of the exchange, in reverse order; at once if it is over already. */
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
