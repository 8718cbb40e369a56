import type { IncomingMessage } from 'node:http';
import { unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import { ActorSlots } from './actor-slots.js';
import { FairScheduler, type SchedulerLimits } from './fair-scheduler.js';
import { LoadShedder, type LoadShedderOptions } from './load-shedder.js';
import { SoleClient } from './sole-client.js';

type RequestKind = 'health' | 'long-poll' | 'other';

interface RequestSchedulerOptions extends LoadShedderOptions {
  readonly limits: SchedulerLimits;
  /** Maximum concurrent pieces of work of one actor. `undefined` for no limit. */
  readonly maximumPiecesPerActor: number | undefined;
  readonly kindOf: (request: IncomingMessage) => RequestKind;
}

const nothing = (): void => undefined;

/**
 * Assigns event-loop ticks to requests, fairly across clients. A request gets one tick to begin and one for each
 * further piece of work.
 */
export class RequestScheduler {
  readonly #scheduler: FairScheduler;
  readonly #shedder: LoadShedder;
  readonly #slots: ActorSlots;
  readonly #soleActor = new SoleClient();
  readonly #isLimited: boolean;
  readonly #kindOf: RequestSchedulerOptions['kindOf'];

  constructor(options: RequestSchedulerOptions) {
    this.#scheduler = new FairScheduler(options.limits);
    this.#shedder = new LoadShedder(options);
    const { maximumPiecesPerActor: maximum, kindOf } = options;
    this.#kindOf = kindOf;
    this.#isLimited = maximum !== undefined;
    this.#slots = new ActorSlots(maximum ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Begins a request, or refuses it with 503 if it is queued for too long. Health requests and long polls are never
   * refused.
   */
  begin(exchange: Exchange, task: () => void, isPipelined: boolean): void {
    const { request, isSurplus, clientKey } = exchange;
    const kind = this.#kindOf(request);
    const client = kind === 'health' ? `health ${clientKey}` : clientKey;
    const isPoll = kind === 'long-poll' && !isSurplus;
    const refuse = isSurplus || kind !== 'other' ? undefined : () => this.#shedder.refuse(exchange);
    const begin = (): void => {
      if (!exchange.isOver) task();
    };
    this.#scheduler.schedule(begin, { isPipelined, isPoll, client, refuse });
  }

  /**
   * Begins a piece of work immediately if its actor has a free slot; otherwise returns `undefined`. Call the returned
   * function when the work ends. Work that shares commits needs no slot while its actor is alone.
   */
  tryPiece({ actor, sharesCommits }: Exchange): (() => void) | undefined {
    if (actor === undefined || !this.#isLimited) return nothing;
    const isAlone = this.#soleActor.isAlone(actor, performance.now());
    return isAlone && sharesCommits ? nothing : this.#slots.take(actor);
  }

  /**
   * Begins a piece of work in its client's next tick, once its actor has a free slot. Call the returned function when
   * the work ends. Rejects like {@link nextTick}.
   */
  async beginPiece(exchange: Exchange, isRefusable: boolean): Promise<() => void> {
    const { actor } = exchange;
    const release = this.tryPiece(exchange) ?? (await this.#waitForSlot(exchange, `${actor}`));
    try {
      await this.nextTick(exchange, isRefusable);
      return release;
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Waits for a slot. Rejects when the exchange ends. Otherwise a waiting request would keep its body in memory
   * although the caps no longer count it.
   */
  #waitForSlot(exchange: Exchange, actor: string): Promise<() => void> {
    return new Promise((resolve, reject) => {
      // Deferred, because the signal is aborted only after these listeners have run.
      exchange.onEnd(() => queueMicrotask(() => reject(exchange.signal.reason)));
      void this.#slots.wait(actor).then((release) => (exchange.isOver ? release() : resolve(release)));
    });
  }

  /**
   * Resolves in the client's next tick. Rejects with an `AbortError` if the exchange is over by then. If `isRefusable`,
   * rejects with SERVICE_UNAVAILABLE after waiting for too long.
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
        reject(unavailable('overload'));
      };
      this.#scheduler.schedule(begin, {
        isPipelined: false,
        client: actor === undefined ? clientKey : `actor ${actor}`,
        refuse: isRefusable ? refuse : undefined,
      });
    });
  }
}
