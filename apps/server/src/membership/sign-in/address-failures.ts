import { LRUCache } from 'lru-cache';

/** Maximum number of failed sign-ins from one address in 30 minutes. */
export const maximumAddressFailures = 100;
const windowMilliseconds = 30 * 60_000;
/** Maximum number of addresses with counted failures. Above it, the address with the oldest window is evicted. */
const maximumAddresses = 10_000;

interface Failures {
  count: number;
  readonly until: number;
}

/** Limits failed sign-ins per address, in this process. Sign-ins in flight count as failed. */
export class AddressFailures {
  readonly #addresses = new LRUCache<string, Failures>({ max: maximumAddresses });

  /**
   * Counts an attempt from the address. Returns `undefined` if the attempt is allowed, otherwise the number of seconds
   * to wait.
   */
  take(address: string, now: number): number | undefined {
    const failures = this.#failuresOf(address, now);
    if (failures.count >= maximumAddressFailures) return Math.ceil((failures.until - now) / 1000);
    failures.count += 1;
    return undefined;
  }

  /** Stops counting an attempt. Call this if the sign-in succeeded or did not test a password. */
  giveBack(address: string): void {
    const failures = this.#addresses.peek(address);
    if (failures !== undefined && failures.count > 0) failures.count -= 1;
  }

  #failuresOf(address: string, now: number): Failures {
    // `peek` does not refresh the entry, so eviction follows the start of the window.
    const known = this.#addresses.peek(address);
    // Ignores a window that ends too far in the future: it was stored before the system clock moved backward.
    if (known !== undefined && known.until > now && known.until <= now + windowMilliseconds) return known;
    const failures = { count: 0, until: now + windowMilliseconds };
    this.#addresses.set(address, failures);
    return failures;
  }
}
