import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const maximumRemembered = 10_000;

/** Valid access tokens. Kept in memory only: after a restart, senders get 401 and request a new token. */
export class AccessTokens {
  readonly #clock: () => number;
  readonly #expiries = new LRUCache<string, number>({ max: maximumRemembered });
  #issuedCount = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  get issuedCount(): number {
    return this.#issuedCount;
  }

  issue(lifetimeSeconds: number): string {
    const token = `ya29.${randomBytes(48).toString('base64url')}`;
    this.#issuedCount += 1;
    this.#expiries.set(token, this.#clock() + lifetimeSeconds * 1000);
    return token;
  }

  isInForce(token: string): boolean {
    const expiry = this.#expiries.get(token);
    if (expiry === undefined) return false;
    if (this.#clock() < expiry) return true;
    this.#expiries.delete(token);
    return false;
  }
}
