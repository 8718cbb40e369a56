import { ProtocolError } from '@waxwing/protocol';
import type { DeliveryMetrics } from '../delivery-metrics.js';

export interface LoadLimitOptions {
  readonly maximumInFlight: number;
  readonly maximumQueued: number;
  readonly metrics: DeliveryMetrics;
}

/** Keeps what is held in memory and in the queue bounded: a full relay refuses, it does not grow. */
export class LoadLimit {
  readonly #options: LoadLimitOptions;
  #inFlight = 0;
  #queued = 0;

  constructor(options: LoadLimitOptions) {
    this.#options = options;
  }

  /**
   * Makes room for a request's notifications; a request larger than the whole limit passes when nothing else is there.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  enter(count: number): void {
    this.requireRoom(count);
    this.#inFlight += count;
    this.#options.metrics.setInFlight(this.#inFlight);
  }

  /**
   * Refuses as {@link enter} would.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After.
   */
  requireRoom(count: number): void {
    const { maximumInFlight, maximumQueued } = this.#options;
    if (this.#inFlight > 0 && this.#inFlight + count > maximumInFlight) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 2 });
    }
    if (this.#queued >= maximumQueued && count > 0) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 60 });
    }
  }

  leave(count: number): void {
    this.#inFlight -= count;
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
