import type { Clock } from '@waxwing/service/lifecycle';
import { LRUCache } from 'lru-cache';

export interface RecentLookupsOptions {
  readonly clock: Clock;
  readonly lifetimeMilliseconds: number;
  readonly maximumEntries: number;
}

/** What was found a moment ago, so that a busy server costs one query a moment instead of one a request. */
export class RecentLookups<Value> {
  readonly #options: RecentLookupsOptions;
  readonly #entries: LRUCache<string, { readonly value: Value; readonly foundAt: number }>;

  constructor(options: RecentLookupsOptions) {
    this.#options = options;
    this.#entries = new LRUCache({ max: options.maximumEntries });
  }

  /** What was remembered for `key`, unless it is too old. */
  get(key: string): Value | undefined {
    const entry = this.#entries.peek(key);
    if (entry === undefined) return undefined;
    const age = this.#options.clock() - entry.foundAt;
    // A clock that was set back would keep an entry for as long as the step.
    if (age >= 0 && age < this.#options.lifetimeMilliseconds) return entry.value;
    this.#entries.delete(key);
    return undefined;
  }

  remember(key: string, value: Value): void {
    this.#entries.set(key, { value, foundAt: this.#options.clock() });
  }
}
