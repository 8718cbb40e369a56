import type { KeyListAnswer } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayOutcome } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';

/** TTL of the cached key list. It limits the requests to the relay, no matter how many phones request the list. */
export const keyListMaximumAgeSeconds = 5;

/** Caches the relay's key list. While the relay fails, serves the last good list: phones check its validity themselves. */
export class KeyListCache {
  readonly #link: Pick<RelayLink, 'fetchKeyList'>;
  readonly #clock: Clock;
  #good: Extract<RelayOutcome<KeyListAnswer>, { kind: 'accepted' }> | undefined;
  #newest: { readonly outcome: RelayOutcome<KeyListAnswer>; readonly at: number } | undefined;
  #asking: Promise<RelayOutcome<KeyListAnswer>> | undefined;

  constructor(link: Pick<RelayLink, 'fetchKeyList'>, clock: Clock) {
    this.#link = link;
    this.#clock = clock;
  }

  /**
   * Returns the list, or the reason why there is none. Single-flight: concurrent calls share one request to the relay.
   */
  async get(): Promise<RelayOutcome<KeyListAnswer>> {
    const age = this.#newest === undefined ? undefined : this.#clock() - this.#newest.at;
    // A negative age means that the clock was set back, which must not freeze the cache.
    const isFresh = age !== undefined && age >= 0 && age < keyListMaximumAgeSeconds * 1000;
    if (this.#newest !== undefined && isFresh) return this.#newest.outcome;
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<RelayOutcome<KeyListAnswer>> {
    const fetched = await this.#link.fetchKeyList();
    if (fetched.kind === 'accepted') this.#good = fetched;
    const outcome = fetched.kind === 'retry' ? (this.#good ?? fetched) : fetched;
    this.#newest = { outcome, at: this.#clock() };
    return outcome;
  }
}
