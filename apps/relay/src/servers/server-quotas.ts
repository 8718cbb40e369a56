import { ProtocolError } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';

interface Bucket {
  left: number;
  filledAt: number;
  /** Usage since the last `collect`, including the fraction carried over from it. */
  uncollected: number;
}

/** A server's usage of its quota. */
export interface UsedQuota {
  readonly serverId: string;
  /** Time until the quota is full again: 60,000 ms if it is used up, more if it is overdrawn. */
  readonly usedMilliseconds: number;
}

/** Quota key for requests without a client address: all clients behind an untrusted proxy share it. */
export const unknownAddress = 'unknown';

const minuteMilliseconds = 60_000;
/** Cost of reading a request body, regardless of its content. It counts as the first item of the request. */
export const costOfBody = 1;
/**
 * Maximum number of servers in memory. The least recently used server is evicted and starts again with a full quota.
 */
export const maximumServers = 10_000;

/** Per-server rate limit (token bucket): one server must not use up the vendor quota that all servers share. */
export class ServerQuotas {
  readonly #perMinute: number;
  readonly #clock: Clock;
  readonly #limit: string;
  readonly #buckets = new LRUCache<string, Bucket>({ max: maximumServers });

  /** @param limit names the quota in the log. */
  constructor(perMinute: number, clock: Clock, limit = 'server-quota') {
    this.#perMinute = perMinute;
    this.#clock = clock;
    this.#limit = limit;
  }

  /**
   * Charges `cost` to a server's quota; `taken` is the part of `cost` that is already charged. A cost that exceeds the
   * whole quota is accepted if the quota is full.
   * @throws ProtocolError RATE_LIMIT_HIT with HTTP 503 and Retry-After: stock servers treat 429 as a final refusal.
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
    throw new ProtocolError('RATE_LIMIT_HIT', {
      httpStatus: 503,
      retryAfterSeconds,
      cause: this.#limit,
    });
  }

  /**
   * Charges the rest of a request for `count` items; its body is already charged. If the quota or `requireRoom`
   * refuses, refunds the charge for the body: a client that must retry pays nothing.
   * @throws ProtocolError for the same reasons as {@link take}, and the errors of `requireRoom`.
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

  /** Returns the local usage since the last call, in whole milliseconds. Fractions carry over to the next call. */
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
   * Lowers each server's remaining quota to what is left after the usage of all processes. `used` is the total usage at
   * `readAt`, without this process's uncollected part. Never raises the remaining quota: reports from other processes
   * cannot give a server more quota than a single process would.
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

  /**
   * Returns the `count` servers with the highest quota usage, highest first. A ratio above 1 means an overdrawn quota.
   */
  busiest(count: number): { readonly serverId: string; readonly ratio: number }[] {
    const now = this.#clock();
    const used = [...this.#buckets].map(([serverId, bucket]) => ({
      serverId,
      ratio: 1 - this.#leftAt(bucket, now) / this.#perMinute,
    }));
    return used
      .filter(({ ratio }) => ratio > 0)
      .sort((a, b) => b.ratio - a.ratio)
      .slice(0, count);
  }

  #refilled(serverId: string, now: number): Bucket {
    const bucket = this.#buckets.get(serverId) ?? { left: this.#perMinute, filledAt: now, uncollected: 0 };
    this.#buckets.set(serverId, bucket);
    bucket.left = this.#leftAt(bucket, now);
    bucket.filledAt = now;
    return bucket;
  }

  #leftAt({ left, filledAt }: Bucket, now: number): number {
    const filled = (Math.max(0, now - filledAt) * this.#perMinute) / minuteMilliseconds;
    return Math.min(this.#perMinute, left + filled);
  }
}
