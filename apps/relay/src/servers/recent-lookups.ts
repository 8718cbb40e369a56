import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';

export interface RecentLookupsOptions {
  readonly clock: Clock;
  readonly lifetimeMilliseconds: number;
  readonly maximumEntries: number;
}

/** LRU cache with a TTL: a busy server costs one query per `lifetimeMilliseconds` instead of one per request. */
export class RecentLookups<Value> {
  readonly #options: RecentLookupsOptions;
  readonly #entries: LRUCache<string, { readonly value: Value; readonly foundAt: number }>;

  constructor(options: RecentLookupsOptions) {
    this.#options = options;
    this.#entries = new LRUCache({ max: options.maximumEntries });
  }

  /** Returns the cached value of `key`; `undefined` if there is no value or it is older than the TTL. */
  get(key: string): Value | undefined {
    const entry = this.#entries.peek(key);
    if (entry === undefined) return undefined;
    const age = this.#options.clock() - entry.foundAt;
    // A negative age means that the clock went backward. Without this check, the entry would live longer by as much.
    if (age >= 0 && age < this.#options.lifetimeMilliseconds) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  remember(key: string, value: Value): void {
    this.#entries.set(key, { value, foundAt: this.#options.clock() });
  }

  /** Removes the entries whose key satisfies `isForgotten`. */
  forget(isForgotten: (key: string) => boolean): void {
    for (const key of [...this.#entries.keys()]) if (isForgotten(key)) this.#entries.delete(key);
  }
}
