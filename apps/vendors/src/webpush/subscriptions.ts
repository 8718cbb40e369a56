import { LRUCache } from 'lru-cache';

const maximumSubscriptions = 200_000;

/** Subscriptions of the stand-in. The first push binds a subscription to its VAPID key, as subscribing does. */
export class Subscriptions {
  readonly #keys = new LRUCache<string, string>({ max: maximumSubscriptions });

  /** Whether the subscription at a path is bound to this VAPID key, in base64url. Binds a new one. */
  isBoundTo(path: string, publicKey: string): boolean {
    const bound = this.#keys.get(path);
    if (bound === undefined) this.#keys.set(path, publicKey);
    return bound === undefined || bound === publicKey;
  }
}
