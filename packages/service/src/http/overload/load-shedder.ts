import type { Log } from '../../logging/create-logger.js';
import { refuseAlways, unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import type { RefusalReason } from './in-flight-caps.js';

export interface LoadShedderOptions {
  readonly log: Log;
  readonly onRefusal: (reason: RefusalReason) => void;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

const logIntervalMilliseconds = 1000;
const refuseAsUnavailable = refuseAlways(unavailable('overload'));

/** Sheds load: responds to requests with 503 before doing any work for them. Writes at most one log line per second. */
export class LoadShedder {
  readonly #options: LoadShedderOptions;
  #unlogged = 0;

  constructor(options: LoadShedderOptions) {
    this.#options = options;
  }

  /** Responds with 503 and Retry-After. Does nothing if the client has disconnected. */
  refuse({ isOver, response }: Exchange): void {
    if (isOver) return;
    this.count();
    // An idle keep-alive connection would delay shutdown.
    if (this.#options.closing.aborted) response.shouldKeepAlive = false;
    refuseAsUnavailable(response);
  }

  /** Counts a request that the caller has refused. */
  count(): void {
    this.#options.onRefusal('overload');
    if (this.#unlogged === 0) setTimeout(this.#log, logIntervalMilliseconds).unref();
    this.#unlogged += 1;
  }

  readonly #log = (): void => {
    const { log } = this.#options;
    log.warn(
      { requests: this.#unlogged },
      'this process is overloaded: requests that were queued for too long were refused',
    );
    this.#unlogged = 0;
  };
}
