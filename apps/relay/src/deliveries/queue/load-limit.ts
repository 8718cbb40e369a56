import { ProtocolError } from '@waxwing/protocol';
import type { DeliveryMetrics } from '../delivery-metrics.js';

export interface LoadLimitOptions {
  readonly maximumInFlight: number;
  readonly maximumQueued: number;
  readonly metrics: DeliveryMetrics;
}

/**
 * Keeps what is held in memory and in the queue bounded: a full relay refuses, it does not grow. A server adds to
 * what it has in flight no more than leaves as much room to others; one that has nothing there may take what there is.
 */
export class LoadLimit {
  readonly #options: LoadLimitOptions;
  #inFlight = 0;
  /** By server; none of those that have none. */
  readonly #inFlightOf = new Map<string, number>();
  #queued = 0;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
  }

  /**
   * Makes room for a request's notifications; a request larger than the whole limit passes when nothing else is there.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  enter(serverId: string, count: number): void {
    this.requireRoom(serverId, count);
    this.#change(serverId, count);
  }

  /**
   * Refuses as {@link enter} would.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  requireRoom(serverId: string, count: number): void {
    const { maximumInFlight, maximumQueued } = this.#options;
    const room = maximumInFlight - this.#inFlight;
    const own = this.#inFlightOf.get(serverId) ?? 0;
    if ((this.#inFlight > 0 && count > room) || (own > 0 && own + count > room)) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 2 });
    }
    if (this.#queued >= maximumQueued && count > 0) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 60 });
    }
  }

  leave(serverId: string, count: number): void {
    this.#change(serverId, -count);
  }

  #change(serverId: string, change: number): void {
    const own = (this.#inFlightOf.get(serverId) ?? 0) + change;
    if (own === 0) this.#inFlightOf.delete(serverId);
    else this.#inFlightOf.set(serverId, own);
    this.#inFlight += change;
    this.#options.metrics.setInFlight(this.#inFlight);
  }

  addQueued(change: number): void {
    this.setQueued(Math.max(0, this.#queued + change));
  }

  setQueued(count: number): void {
    this.#queued = count;
    this.#options.metrics.setQueued(count);
  }
}
