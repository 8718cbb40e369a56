import { rateLimitHit } from '../http/index.js';
import type { Clock } from '../lifecycle/index.js';

interface Bucket {
  left: number;
  /** Unix milliseconds. */
  filledAt: number;
}

/** Maximum sign-in attempts per minute and client address. */
const signInsPerMinuteAndAddress = 10;

const minuteMilliseconds = 60_000;
const maximumAddresses = 10_000;

/**
 * Limits sign-in attempts by client address (token bucket). Tracks at most 10,000 addresses. Evicts the address whose
 * last attempt is the oldest; an evicted address starts over with a full bucket.
 */
export class SignInLimit {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one attempt. @throws ProtocolError RATE_LIMIT_HIT with HTTP 429 and Retry-After if no attempt is left. */
  take(address: string): void {
    const now = this.#clock();
    const left = this.#leftOf(address, now);
    this.#buckets.delete(address);
    this.#buckets.set(address, { left: left < 1 ? left : left - 1, filledAt: now });
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maximumAddresses && oldest !== undefined) this.#buckets.delete(oldest);
    if (left < 1) throw rateLimitHit('sign-in', Math.ceil(((1 - left) * 60) / signInsPerMinuteAndAddress));
  }

  #leftOf(address: string, now: number): number {
    const bucket = this.#buckets.get(address);
    if (bucket === undefined) return signInsPerMinuteAndAddress;
    const filled = (Math.max(0, now - bucket.filledAt) * signInsPerMinuteAndAddress) / minuteMilliseconds;
    return Math.min(signInsPerMinuteAndAddress, bucket.left + filled);
  }
}
