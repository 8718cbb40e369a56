import { unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import { FairScheduler, type SchedulerLimits } from './fair-scheduler.js';
import { LoadShedder, type LoadShedderOptions } from './load-shedder.js';

interface RequestSchedulerOptions extends LoadShedderOptions {
  readonly limits: SchedulerLimits;
}

/** Gives requests ticks of the event loop, fairly across clients: one to begin, and one for each further piece of work. */
export class RequestScheduler {
  readonly #scheduler: FairScheduler;
  readonly #shedder: LoadShedder;

  constructor(options: RequestSchedulerOptions) {
    this.#scheduler = new FairScheduler(options.limits);
    this.#shedder = new LoadShedder(options);
  }

  /** Begins a request, or answers it with 503 if it waits too long. Health requests are never refused. */
  begin(
    exchange: Exchange,
    act: () => void,
    { isHealth, isPipelined }: { readonly isHealth: boolean; readonly isPipelined: boolean },
  ): void {
    const client = isHealth ? `health ${exchange.clientKey}` : exchange.clientKey;
    const refuse = isHealth || exchange.isSurplus ? undefined : () => this.#shedder.refuse(exchange);
    const begin = (): void => {
      if (!exchange.isOver) act();
    };
    this.#scheduler.schedule(begin, { isPipelined, client, refuse });
  }

  /**
   * Resolves in the client's next tick. Rejects with an `AbortError` if the exchange is over by then, and with
   * SERVICE_UNAVAILABLE if it waits too long and `isRefusable`.
   */
  nextTick(exchange: Exchange, isRefusable: boolean): Promise<void> {
    const { actor, clientKey } = exchange;
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        if (exchange.isOver) reject(exchange.signal.reason);
        else resolve();
      };
      const refuse = (): void => {
        this.#shedder.count();
        reject(unavailable());
      };
      this.#scheduler.schedule(begin, {
        isPipelined: false,
        client: actor === undefined ? clientKey : `actor ${actor}`,
        refuse: isRefusable ? refuse : undefined,
      });
    });
  }
}
