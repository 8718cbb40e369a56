import { LRUCache } from 'lru-cache';

const maximumSubscriptions = 200_000;

/** Subscriptions of the stand-in. The first push binds a subscription to the VAPID key that signed the push. */
export class Subscriptions {
  readonly #keys = new LRUCache<string, string>({ max: maximumSubscriptions });

  /**
   * Binds an unbound subscription to a VAPID key (base64url). Returns whether the subscription is bound to that key.
   */
  isBoundTo(path: string, publicKey: string): boolean {
    const bound = this.#keys.get(path);
    if (bound === undefined) this.#keys.set(path, publicKey);
    return bound === undefined || bound === publicKey;
  }
}
