import { hash } from 'node:crypto';
import type { RelayDevice, RelayDeviceName } from '../registrations/store/relay-device.js';

/** How urgent a notification is, in the words of the vendor that its server wrote for. */
export type VendorUrgency =
  | { readonly vendor: 'fcm'; readonly priority: 'high' | 'normal' }
  | {
      readonly vendor: 'apns';
      readonly priority: 10 | 5 | 1;
      readonly pushType: 'alert' | 'background';
      /** JSON, as rebuildAps makes it. */
      readonly aps: string;
    };

/** One notification for one device, as its server asked for it; what is stored while it waits for another try. */
export interface EncryptedNotification extends RelayDeviceName {
  readonly serverId: string;
  readonly realmUuid: string;
  /** UUID, lower case; goes to APNs as `apns-id`. */
  readonly notificationId: string;
  /** Canonical base64. */
  readonly encryptedData: string;
  readonly urgency: VendorUrgency;
  /** When the server sent it, in Unix milliseconds. */
  readonly receivedAt: number;
  readonly timeToLiveSeconds: number;
  readonly collapseId: string | undefined;
}

/** A notification and the device it is for, found and of the right kind. */
export interface Delivery {
  readonly notification: EncryptedNotification;
  readonly device: RelayDevice;
}

export type Vendor = 'fcm' | 'apns';

const longestWaitMilliseconds = 24 * 60 * 60_000;

/** Until when it is kept for another try, in Unix milliseconds: while it is worth sending, and for a day at most. */
export function keptUntil(notification: EncryptedNotification): number {
  return Math.min(expiresAt(notification), notification.receivedAt + longestWaitMilliseconds);
}

/** When the notification is no longer worth sending, in Unix milliseconds. */
export function expiresAt({ receivedAt, timeToLiveSeconds }: EncryptedNotification): number {
  return receivedAt + timeToLiveSeconds * 1000;
}

/** Whether a notification was written for the vendor that issued the device's token. */
export function isOfKind({ target }: RelayDevice, { urgency }: EncryptedNotification): boolean {
  return target.tokenKind === urgency.vendor;
}

/**
 * The collapse id that Google and Apple see. They tell notifications apart by phone and app alone, so that it must not
 * be what a server chose: two organisations on one phone would replace each other's notifications. 43 characters; Apple
 * allows 64 bytes.
 */
export function vendorCollapseId(notification: EncryptedNotification): string | undefined {
  const { relayDeviceId, pushAccountId, collapseId } = notification;
  if (collapseId === undefined) return undefined;
  return hash('sha256', `${relayDeviceId} ${pushAccountId} ${collapseId}`, 'base64url');
}
