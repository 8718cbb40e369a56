import { sensitiveHeaders } from 'node:http2';
import { compactApnsToken } from '@waxwing/protocol';
import {
  type Delivery,
  type EncryptedNotification,
  expiresAt,
  keyField,
  type VendorUrgency,
  vendorCollapseId,
} from '../../delivery.js';

type ApnsUrgency = Extract<VendorUrgency, { vendor: 'apns' }>;
type ApnsHeaders = Record<string, string> & { readonly [sensitiveHeaders]?: string[] };

export interface ApnsNotification {
  readonly path: string;
  readonly headers: ApnsHeaders;
  readonly body: string;
}

// Unique values would flood the connection's small HPACK table. Node already keeps `authorization` and `:path` out of
// it.
// https://developer.apple.com/library/archive/documentation/NetworkingInternet/Conceptual/RemoteNotificationsPG/CommunicatingwithAPNs.html
const neverIndexed = ['apns-id', 'apns-expiration', 'apns-collapse-id'];

/**
 * Builds the APNs request of a notification.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 * @throws TypeError for a notification or device of another vendor.
 */
export function buildApnsNotification({ notification, device }: Delivery): ApnsNotification {
  const { target } = device;
  const { urgency, notificationId, timeToLiveSeconds } = notification;
  const collapseId = vendorCollapseId(notification);
  if (urgency.vendor !== 'apns' || target.tokenKind !== 'apns') {
    throw new TypeError(`notification ${notificationId} is not for APNs`);
  }
  const expiration = timeToLiveSeconds === 0 ? 0 : Math.floor(expiresAt(notification) / 1000);
  // APNs refuses a background notification with priority 10.
  const priority = urgency.pushType === 'background' && urgency.priority === 10 ? 5 : urgency.priority;
  const headers: ApnsHeaders = {
    'apns-topic': target.iosAppId,
    'apns-push-type': urgency.pushType,
    'apns-priority': String(priority),
    'apns-id': notificationId,
    'apns-expiration': String(expiration),
    [sensitiveHeaders]: neverIndexed,
  };
  if (collapseId !== undefined) headers['apns-collapse-id'] = collapseId;
  return {
    path: `/3/device/${compactApnsToken(target.token)}`,
    headers,
    body: buildApnsBody(urgency, notification),
  };
}

/** Builds the JSON body as text: `JSON.stringify` cannot write the 64-bit account id as a number. */
function buildApnsBody({ aps }: ApnsUrgency, notification: EncryptedNotification): string {
  const { name, text } = keyField(notification);
  return `{"aps":${aps},"${name}":${text},"encrypted_data":"${notification.encryptedData}"}`;
}

const emptyBodyBytes = '{"aps":,"":,"encrypted_data":""}'.length;

/** Size of the body in bytes. All of it is ASCII. */
export function apnsBodyBytes({ aps }: ApnsUrgency, notification: EncryptedNotification): number {
  const { name, text } = keyField(notification);
  return emptyBodyBytes + aps.length + name.length + text.length + notification.encryptedData.length;
}
