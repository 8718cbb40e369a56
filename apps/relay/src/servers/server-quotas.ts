import { ProtocolError } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service';

interface Bucket {
  left: number;
  filledAt: number;
}

const maximumServers = 10_000;

/** How much each server may ask in a minute, so that one cannot use up what the vendors grant all of them. */
export class ServerQuotas {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Takes `cost` from a server's quota; one that is larger than the quota itself passes when the quota is full.
   * @throws ProtocolError RATE_LIMIT_HIT with HTTP 503 and Retry-After: stock servers take 429 for a final refusal.
   */
  take(serverId: string, cost: number): void {
    const now = this.#clock();
    const bucket = this.#refilled(serverId, now);
    const needed = Math.min(cost, this.#perMinute);
    if (bucket.left >= needed) {
      bucket.left -= cost;
      return;
    }
    const retryAfterSeconds = Math.ceil(((needed - bucket.left) / this.#perMinute) * 60);
    throw new ProtocolError('RATE_LIMIT_HIT', { httpStatus: 503, retryAfterSeconds });
  }

  #refilled(serverId: string, now: number): Bucket {
    const bucket = this.#buckets.get(serverId) ?? { left: this.#perMinute, filledAt: now };
    // The most recently used last, so that the first is the one to forget.
    this.#buckets.delete(serverId);
    this.#buckets.set(serverId, bucket);
    const [oldest] = this.#buckets.keys();
    if (this.#buckets.size > maximumServers && oldest !== undefined) this.#buckets.delete(oldest);
    const elapsedMinutes = Math.max(0, now - bucket.filledAt) / 60_000;
    bucket.left = Math.min(this.#perMinute, bucket.left + elapsedMinutes * this.#perMinute);
    bucket.filledAt = now;
    return bucket;
  }
}
