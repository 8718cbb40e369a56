import { ProtocolError } from '@waxwing/protocol';
import type { DeliveryMetrics } from '../delivery-metrics.js';

export interface LoadLimitOptions {
  readonly maximumInFlight: number;
  readonly maximumQueued: number;
  readonly metrics: DeliveryMetrics;
}

/**
 * Load shedding: caps notifications in flight and in the queue. For a fair share, a server without notifications in
 * flight may use all free slots, but a server with notifications in flight is admitted only if its new total is at most
 * the number of free slots.
 */
export class LoadLimit {
  readonly #options: LoadLimitOptions;
  #inFlight = 0;
  /** Notifications in flight per server. Omits servers with none. */
  readonly #inFlightOf = new Map<string, number>();
  #queued = 0;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
  }

  /**
   * Admits a request's notifications. If nothing is in flight, admits even a request that alone exceeds the limit.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  enter(serverId: string, count: number): void {
    this.requireRoom(serverId, count);
    this.#change(serverId, count);
  }

  /**
   * Checks the limits as {@link enter} does, without admitting anything.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  requireRoom(serverId: string, count: number): void {
    const { maximumInFlight, maximumQueued } = this.#options;
    const room = maximumInFlight - this.#inFlight;
    const own = this.#inFlightOf.get(serverId) ?? 0;
    if ((this.#inFlight > 0 && count > room) || (own > 0 && own + count > room)) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', {
        retryAfterSeconds: 2,
        cause: 'notifications-in-flight',
      });
    }
    if (this.#queued >= maximumQueued && count > 0) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', {
        retryAfterSeconds: 60,
        cause: 'notifications-queued',
      });
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
