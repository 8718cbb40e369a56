import type { IncomingMessage, ServerResponse } from 'node:http';

// Made once: each would hold a stack, which takes longer to note down than all else about the end of most requests.
const endOfExchange = new DOMException('This exchange has come to its end', 'AbortError');

/** One request and its answer, until the answer was sent or nobody is there any more to take it. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Came over a connection that is one too many, and may ask for nothing but health. */
  readonly isSurplus: boolean;
  /** When it began to wait for its turn, by `performance.now()`. */
  receivedAt = performance.now();
  /** For whom it takes its turn: whom its connection is known to be of, or where it comes from. */
  sender = '';
  /** As whom it was authenticated; `undefined` before that. */
  actor: string | undefined;
  #abort: AbortController | undefined;
  #isAborted = false;
  #isOver = false;
  #endings: (() => void)[] = [];

  constructor(request: IncomingMessage, response: ServerResponse, isSurplus = false) {
    this.request = request;
    this.response = response;
    this.isSurplus = isSurplus;
    // A request that never was attached to a connection, as in tests that inject one, has nobody else to end it.
    response.once('close', () => this.end());
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Aborted when the exchange is over, or its answer is wanted now because a newer request took its place. */
  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort(endOfExchange);
    }
    return this.#abort.signal;
  }

  /** Asks whoever works on the answer to come to an end; the answer is still sent. */
  abort(): void {
    this.#isAborted = true;
    this.#abort?.abort(endOfExchange);
  }

  /** Acts once when the exchange is over, in the opposite order of asking; at once when it is over already. */
  whenOver(act: () => void): void {
    if (this.#isOver) act();
    else this.#endings.push(act);
  }

  /** Whatever tells first that it is over does so; Node tells it in different ways, and sometimes in none. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const endings = this.#endings;
    this.#endings = [];
    for (const act of endings.reverse()) act();
    this.abort();
  }
}
