import { LRUCache } from 'lru-cache';

const maximumSubscriptions = 200_000;

/** Subscriptions of the stand-in. The first push binds a subscription to the VAPID key that signed the push. */
export class Subscriptions {
  readonly #keys = new LRUCache<string, string>({ max: maximumSubscriptions });

  /** Whether the subscription at a path is bound to this VAPID key (base64url). Binds an unbound subscription to it. */
  isBoundTo(path: string, publicKey: string): boolean {
    const bound = this.#keys.get(path);
    if (bound === undefined) this.#keys.set(path, publicKey);
    return bound === undefined || bound === publicKey;
  }
}
