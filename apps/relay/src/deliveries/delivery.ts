import { hash } from 'node:crypto';
import type { TokenKind } from '@waxwing/protocol';
import type { RelayDevice, RelayDeviceName } from '../registrations/store/relay-device.js';

/** Urgency of a notification, in the terms of the vendor that the server addressed. */
export type VendorUrgency =
  | { readonly vendor: 'fcm'; readonly priority: 'high' | 'normal' }
  | {
      readonly vendor: 'apns';
      readonly priority: 10 | 5 | 1;
      readonly pushType: 'alert' | 'background';
      /** JSON, in ASCII. */
      readonly aps: string;
      /** Whether `aps` is the server's own. Otherwise the relay has rebuilt it; see `rebuildAps`. */
      readonly isForwarded?: true;
    };

/** One notification for one device, as the server requested it. Retries store it in this format. */
export interface EncryptedNotification extends RelayDeviceName {
  readonly serverId: string;
  readonly realmUuid: string;
  /** UUID, lowercase. Sent to APNs as `apns-id`. */
  readonly notificationId: string;
  /**
   * Id of the phone's key, an unsigned 32-bit integer, in the newer generation of the protocol. The older generation
   * names the account instead.
   */
  readonly pushKeyId?: number;
  /** Canonical base64. */
  readonly encryptedData: string;
  /** Replaces `encryptedData` for a device without encryption: the data for FCM or the body for APNs, as ASCII JSON. */
  readonly plaintext?: string;
  readonly urgency: VendorUrgency;
  /** When the relay received the notification, in Unix milliseconds. */
  readonly receivedAt: number;
  readonly timeToLiveSeconds: number;
  readonly collapseId: string | undefined;
  /** Identifies the trace of the server's request; absent if the request is not traced. */
  readonly traceparent?: string;
}

/** A notification and its device. The device exists and matches the notification's vendor. */
export interface Delivery {
  readonly notification: EncryptedNotification;
  readonly device: RelayDevice;
}

/** A push vendor, named after the kind of token that it issues. */
export type Vendor = TokenKind;

const longestWaitMilliseconds = 24 * 60 * 60_000;

/** Returns when the relay stops retrying a notification, in Unix milliseconds: when it expires, or after one day. */
export function keptUntil(notification: EncryptedNotification): number {
  return Math.min(expiresAt(notification), notification.receivedAt + longestWaitMilliseconds);
}

/** Returns when the notification expires, in Unix milliseconds. */
export function expiresAt({ receivedAt, timeToLiveSeconds }: EncryptedNotification): number {
  return receivedAt + timeToLiveSeconds * 1000;
}

/**
 * Returns the payload field that tells the phone which key to use: `push_key_id`, or `push_account_id` in the older
 * generation.
 */
export function keyField({ addressee, pushKeyId }: Pick<EncryptedNotification, 'addressee' | 'pushKeyId'>): {
  readonly name: string;
  /** Decimal. */
  readonly text: string;
} {
  if (pushKeyId !== undefined) return { name: 'push_key_id', text: String(pushKeyId) };
  return { name: 'push_account_id', text: addressee };
}

/**
 * Whether a notification addresses the vendor that issued the device's token. Servers address Web Push devices in FCM's
 * format.
 */
export function isOfKind({ target }: RelayDevice, { urgency }: EncryptedNotification): boolean {
  return (target.tokenKind === 'apns') === (urgency.vendor === 'apns');
}

/**
 * Derives the collapse id for vendors: 43 characters, truncated to 32 for push services (Apple allows 64 bytes).
 * Vendors compare collapse ids within one app on one phone. If the relay passed on the servers' ids, two organizations
 * on one phone could replace each other's notifications.
 */
export function vendorCollapseId(notification: EncryptedNotification): string | undefined {
  const { relayDeviceId, addressee, collapseId } = notification;
  if (collapseId === undefined) return undefined;
  return hash('sha256', `${relayDeviceId} ${addressee} ${collapseId}`, 'base64url');
}

/**
 * An `aps` that wakes the app. Apple: "an aps dictionary that includes only the content-available key".
 * https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app
 */
export const wakeAps = '{"content-available":1}';
