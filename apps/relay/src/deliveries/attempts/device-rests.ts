import type { RelayDeviceId } from '@waxwing/protocol';
import { LRUCache } from 'lru-cache';

const maximumDevices = 10_000;

interface Rest {
  readonly until: number;
  /** Notifications told to come back after it. */
  held: number;
}

/**
 * Phones that get no more for a while because Apple said that they got too many: each notification more would only be
 * refused, too. https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
 */
export class DeviceRests {
  readonly #rests = new LRUCache<RelayDeviceId, Rest>({ max: maximumDevices });
  readonly #apartMilliseconds: number;

  /** @param apartMilliseconds between the notifications that come back after a rest. */
  constructor(apartMilliseconds: number) {
    this.#apartMilliseconds = apartMilliseconds;
  }

  /** Nothing more for this RelayDevice until then (Unix milliseconds). */
  begin(relayDeviceId: RelayDeviceId, until: number): void {
    this.#rests.set(relayDeviceId, { until, held: 0 });
  }

  /** When one more may be tried, in Unix milliseconds; `undefined` for now. What waits comes back one by one. */
  nextTry(relayDeviceId: RelayDeviceId, now: number): number | undefined {
    const rest = this.#rests.get(relayDeviceId);
    if (rest === undefined) return undefined;
    if (now >= rest.until) {
      this.#rests.delete(relayDeviceId);
      return undefined;
    }
    return Math.ceil(rest.until + (rest.held + 1) * this.#apartMilliseconds);
  }

  /** One more waits for the end of the phone's rest. */
  hold(relayDeviceId: RelayDeviceId): void {
    const rest = this.#rests.get(relayDeviceId);
    if (rest !== undefined) rest.held += 1;
  }
}
