import type { RelayDeviceId } from '@waxwing/protocol';
import { LRUCache } from 'lru-cache';

const maximumDevices = 10_000;

interface Cooldown {
  readonly until: number;
  /** Number of notifications postponed until after the cool-down. */
  held: number;
}

/**
 * Cool-downs of devices that APNs or a push service throttles. The vendor would refuse any notification that the relay
 * sent to the device during the cool-down.
 * https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
 */
export class DeviceCooldowns {
  readonly #cooldowns = new LRUCache<RelayDeviceId, Cooldown>({ max: maximumDevices });
  readonly #apartMilliseconds: number;

  /** @param apartMilliseconds Spacing between postponed notifications after a cool-down. */
  constructor(apartMilliseconds: number) {
    this.#apartMilliseconds = apartMilliseconds;
  }

  /** Starts a device's cool-down until `until` (Unix milliseconds). */
  begin(relayDeviceId: RelayDeviceId, until: number): void {
    this.#cooldowns.set(relayDeviceId, { until, held: 0 });
  }

  /**
   * Returns when the next notification may be sent, in Unix milliseconds; `undefined` if it may be sent immediately.
   * Spaces out postponed notifications.
   */
  nextTry(relayDeviceId: RelayDeviceId, now: number): number | undefined {
    const rest = this.#cooldowns.get(relayDeviceId);
    if (rest === undefined) return undefined;
    if (now >= rest.until) {
      this.#cooldowns.delete(relayDeviceId);
      return undefined;
    }
    return Math.ceil(rest.until + (rest.held + 1) * this.#apartMilliseconds);
  }

  /** Counts one more postponed notification. */
  hold(relayDeviceId: RelayDeviceId): void {
    const rest = this.#cooldowns.get(relayDeviceId);
    if (rest !== undefined) rest.held += 1;
  }
}
