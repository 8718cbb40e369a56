import { keyOf } from '../queue/receipt-store.js';
import type { DeliveryClaim, DeliveryItem } from './delivery-item.js';

/**
 * Single-flight for notifications with an id: remembers each notification in flight until its outcome is durable. A
 * duplicate waits for the outcome of the first notification and is not sent.
 */
export class DeliveryClaims {
  readonly #claims = new Map<string, DeliveryClaim>();

  /** Returns the items that this request must deliver, by key. Marks all other items as duplicates. */
  findRepeats(withId: readonly DeliveryItem[]): Map<string, DeliveryItem> {
    const own = new Map<string, DeliveryItem>();
    for (const item of withId) {
      const key = keyOf(item.notification);
      item.sameAs = own.get(key);
      if (item.sameAs === undefined) item.follows = this.#claims.get(key);
      item.isRepeat = item.sameAs !== undefined || item.follows !== undefined;
      if (!item.isRepeat) own.set(key, item);
    }
    return own;
  }

  /** Makes duplicates of `own` wait until `stored` settles, which happens when this request's outcomes are durable. */
  claim(own: ReadonlyMap<string, DeliveryItem>, stored: Promise<unknown>): void {
    for (const [key, item] of own) this.#claims.set(key, { item, stored });
    const release = (): void => {
      for (const key of own.keys()) this.#claims.delete(key);
    };
    stored.then(release, release);
  }
}
