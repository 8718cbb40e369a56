import { LRUCache } from 'lru-cache';
import type { EncryptedNotification } from '../delivery.js';

const maximumRemembered = 10_000;

type Collapsible = Pick<EncryptedNotification, 'relayDeviceId' | 'collapseId' | 'receivedAt'>;

/**
 * Remembers the latest notification per device and collapse id. An older notification that is still queued has been
 * replaced; sending it now would overwrite the latest. Keeps the 10,000 most recently used entries.
 */
export class ReplacedNotifications {
  readonly #latest = new LRUCache<string, number>({ max: maximumRemembered });

  /** Notes a notification that was sent or queued. */
  note({ relayDeviceId, collapseId, receivedAt }: Collapsible): void {
    if (collapseId === undefined) return;
    const key = `${relayDeviceId} ${collapseId}`;
    const latest = Math.max(receivedAt, this.#latest.get(key) ?? receivedAt);
    this.#latest.set(key, latest);
  }

  isReplaced({ relayDeviceId, collapseId, receivedAt }: Collapsible): boolean {
    if (collapseId === undefined) return false;
    const latest = this.#latest.peek(`${relayDeviceId} ${collapseId}`);
    return latest !== undefined && latest > receivedAt;
  }
}
