import type { Log } from '../../logging/create-logger.js';
import { refuseAlways, unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import type { RefusalReason } from './places.js';

export interface LateRequestsOptions {
  readonly log: Log;
  readonly onRefusal: (reason: RefusalReason) => void;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

const gatherMilliseconds = 1000;
const refuseAsUnavailable = refuseAlways(unavailable());

/** Refuses requests whose turn does not come in time, before anything is done for them; one log line tells of a second's. */
export class LateRequests {
  readonly #options: LateRequestsOptions;
  #untold = 0;

  constructor(options: LateRequestsOptions) {
    this.#options = options;
  }

  refuse({ isOver, response }: Exchange): void {
    // Whoever asked may be gone.
    if (isOver) return;
    this.#options.onRefusal('overload');
    if (this.#untold === 0) setTimeout(this.#tell, gatherMilliseconds).unref();
    this.#untold += 1;
    // One that is kept alive after its last answer would hold up closing for as long.
    if (this.#options.closing.aborted) response.shouldKeepAlive = false;
    refuseAsUnavailable(response);
  }

  readonly #tell = (): void => {
    const { log } = this.#options;
    log.warn(
      { requests: this.#untold },
      'this process falls behind: requests were refused whose turn did not come in time',
    );
    this.#untold = 0;
  };
}
