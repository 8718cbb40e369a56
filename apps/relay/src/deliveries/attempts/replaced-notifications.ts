import { LRUCache } from 'lru-cache';
import type { EncryptedNotification } from '../delivery.js';

const maximumRemembered = 10_000;

type Collapsible = Pick<EncryptedNotification, 'relayDeviceId' | 'collapseId' | 'receivedAt'>;

/**
 * Which notification with a collapse id was the latest for a phone: an older one that still waits has been replaced by
 * it, and would take its place if it were sent now. Remembers the ten thousand latest.
 */
export class ReplacedNotifications {
  readonly #latest = new LRUCache<string, number>({ max: maximumRemembered });

  /** This one was sent, or waits to be. */
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
