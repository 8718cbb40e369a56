import { LRUCache } from 'lru-cache';

/** Sign-ins that may fail from one address in that time. */
export const maximumAddressFailures = 100;
const windowMilliseconds = 30 * 60_000;
/** Addresses of which is remembered how often they failed: those that began last. */
const maximumAddresses = 10_000;

interface Failures {
  count: number;
  readonly until: number;
}

/** Counts the sign-ins that fail from each address, in this process. One that is under way counts as one that fails. */
export class AddressFailures {
  readonly #addresses = new LRUCache<string, Failures>({ max: maximumAddresses });

  /** Takes one from what the address has left; seconds to wait where nothing is left. `undefined` for taken. */
  take(address: string, now: number): number | undefined {
    const failures = this.#failuresOf(address, now);
    if (failures.count >= maximumAddressFailures) return Math.ceil((failures.until - now) / 1000);
    failures.count += 1;
    return undefined;
  }

  /** Gives back what was taken for a sign-in that succeeded, or in which no password was tested. */
  giveBack(address: string): void {
    const failures = this.#addresses.peek(address);
    if (failures !== undefined && failures.count > 0) failures.count -= 1;
  }

  #failuresOf(address: string, now: number): Failures {
    // Peeked at, so that those are forgotten first that began first.
    const known = this.#addresses.peek(address);
    // One from further ahead was written before the clock was set back.
    if (known !== undefined && known.until > now && known.until <= now + windowMilliseconds) return known;
    const failures = { count: 0, until: now + windowMilliseconds };
    this.#addresses.set(address, failures);
    return failures;
  }
}
