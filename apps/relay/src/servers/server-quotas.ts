import { ProtocolError } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';

interface Bucket {
  left: number;
  filledAt: number;
  /** Taken here and not collected yet; fractions of one are carried over. */
  uncollected: number;
}

/** How much of its quota a server has used up. */
export interface UsedQuota {
  readonly serverId: string;
  /** How long the quota takes to fill up again: 60,000 when all of it is used, more when more than that was taken. */
  readonly usedMilliseconds: number;
}

const minuteMilliseconds = 60_000;
/** Reading a body is work, whatever it holds; it counts as the first of what it asks for. */
export const costOfBody = 1;
/** Most servers that are remembered; the one that asked longest ago is forgotten first, and its quota is full then. */
export const maximumServers = 10_000;

/** How much each server may ask in a minute, so that one cannot use up what the vendors grant all of them. */
export class ServerQuotas {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #buckets = new LRUCache<string, Bucket>({ max: maximumServers });

  constructor(perMinute: number, clock: Clock) {
    this.#perMinute = perMinute;
    this.#clock = clock;
  }

  /**
   * Takes `cost` from a server's quota, of which `taken` were taken before; one that is larger than the quota itself passes
   * when the quota is full.
   * @throws ProtocolError RATE_LIMIT_HIT with HTTP 503 and Retry-After: stock servers take 429 for a final refusal.
   */
  take(serverId: string, cost: number, taken = 0): void {
    const bucket = this.#refilled(serverId, this.#clock());
    const needed = Math.min(cost, this.#perMinute) - taken;
    if (bucket.left >= needed) {
      bucket.left -= cost - taken;
      bucket.uncollected += cost - taken;
      return;
    }
    const retryAfterSeconds = Math.ceil(((needed - bucket.left) * 60) / this.#perMinute);
    throw new ProtocolError('RATE_LIMIT_HIT', { httpStatus: 503, retryAfterSeconds });
  }

  /**
   * Takes the rest of what a request for `count` things costs, whose body was paid for. Where that or `requireRoom`
   * refuses, the body is given back: whoever is told to come back later has paid nothing.
   */
  takeAll(serverId: string, count: number, requireRoom: () => void = () => undefined): void {
    try {
      requireRoom();
      this.take(serverId, Math.max(costOfBody, count), costOfBody);
    } catch (error) {
      const bucket = this.#refilled(serverId, this.#clock());
      bucket.left += costOfBody;
      bucket.uncollected -= costOfBody;
      throw error;
    }
  }

  /** What was taken here since it was last collected, in whole milliseconds; what is less waits for the next time. */
  collect(): UsedQuota[] {
    const collected: UsedQuota[] = [];
    const perMillisecond = this.#perMinute / minuteMilliseconds;
    for (const [serverId, bucket] of [...this.#buckets].reverse()) {
      const usedMilliseconds = Math.floor(bucket.uncollected / perMillisecond);
      if (usedMilliseconds === 0) continue;
      bucket.uncollected -= usedMilliseconds * perMillisecond;
      collected.push({ serverId, usedMilliseconds });
    }
    return collected;
  }

  /**
   * Lowers what is left of each server's quota to what all processes together have left of it: `used` holds what was used
   * at `readAt` of what everybody took, but for what was not collected here. It never adds to what is left, so that
   * whatever others say, nobody gets more than from one process that counts alone.
   */
  adopt(used: readonly UsedQuota[], readAt: number): void {
    const now = this.#clock();
    const sinceRead = Math.max(0, now - readAt);
    for (const { serverId, usedMilliseconds } of used) {
      const bucket = this.#refilled(serverId, now);
      const stillUsed = Math.max(0, usedMilliseconds - sinceRead);
      const usedByAll = (stillUsed * this.#perMinute) / minuteMilliseconds + bucket.uncollected;
      bucket.left = Math.min(bucket.left, this.#perMinute - usedByAll);
    }
  }

  #refilled(serverId: string, now: number): Bucket {
    const bucket = this.#buckets.get(serverId) ?? { left: this.#perMinute, filledAt: now, uncollected: 0 };
    this.#buckets.set(serverId, bucket);
    const elapsedMilliseconds = Math.max(0, now - bucket.filledAt);
    const filled = (elapsedMilliseconds * this.#perMinute) / minuteMilliseconds;
    bucket.left = Math.min(this.#perMinute, bucket.left + filled);
    bucket.filledAt = now;
    return bucket;
  }
}
