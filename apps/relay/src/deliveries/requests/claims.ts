import type { Attempt } from '../attempts/attempt-delivery.js';
import type { Notification } from '../delivery.js';

export type NotificationKey = Pick<Notification, 'serverId' | 'notificationId' | 'relayDeviceId'>;

interface Claim {
  readonly end: Promise<Attempt>;
  resolve(attempt: Attempt): void;
  reject(error: unknown): void;
}

/** Tells one notification for one device from all others. */
export function keyOf({ serverId, notificationId, relayDeviceId }: NotificationKey): string {
  return `${serverId} ${notificationId} ${relayDeviceId}`;
}

/**
 * Notifications with an id that a request of this process is busy with, from its arrival until what came of them is on
 * the disk: a repeat that comes meanwhile waits for that instead of sending again.
 */
export class Claims {
  readonly #claims = new Map<string, Claim>();

  /** Claims a notification: `undefined`, or what will have come of it when another request has claimed it already. */
  claim(key: NotificationKey): Promise<Attempt> | undefined {
    const text = keyOf(key);
    const known = this.#claims.get(text);
    if (known !== undefined) return known.end;
    let claim: Omit<Claim, 'end'> | undefined;
    const end = new Promise<Attempt>((resolve, reject) => {
      claim = { resolve, reject };
    });
    // Whoever waits is told; where nobody waits there is nobody to tell.
    end.catch(() => undefined);
    if (claim !== undefined) this.#claims.set(text, { ...claim, end });
    return undefined;
  }

  /** What came of a claimed notification is on the disk. */
  settle(key: NotificationKey, attempt: Attempt): void {
    this.#release(key)?.resolve(attempt);
  }

  /** It could not be stored what came of it: those who wait fail too. */
  abandon(key: NotificationKey, error: unknown): void {
    this.#release(key)?.reject(error);
  }

  #release(key: NotificationKey): Claim | undefined {
    const text = keyOf(key);
    const claim = this.#claims.get(text);
    this.#claims.delete(text);
    return claim;
  }
}
