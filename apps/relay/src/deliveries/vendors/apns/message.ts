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
import type { ApnsApp } from './app.js';

type ApnsUrgency = Extract<VendorUrgency, { vendor: 'apns' }>;
type ApnsHeaders = Record<string, string> & { readonly [sensitiveHeaders]?: string[] };

export interface ApnsNotification {
  readonly path: string;
  readonly headers: ApnsHeaders;
  readonly body: string;
}

// Headers whose unique values would flood the connection's small HPACK table. Node itself excludes `authorization` and
// `:path`.
// https://developer.apple.com/library/archive/documentation/NetworkingInternet/Conceptual/RemoteNotificationsPG/CommunicatingwithAPNs.html
const neverIndexed = ['apns-id', 'apns-expiration', 'apns-collapse-id'];

/** An `aps` that starts the app's extension. The extension suppresses the alert if it can decrypt the notification. */
const filteredAps = '{"alert":{"title":"New notification"},"mutable-content":1}';

/**
 * Builds the APNs request for a notification. For apps with the filtering entitlement, a background notification
 * becomes an alert, because iOS throttles background notifications. A background notification with priority 10 gets
 * priority 5. Forwarded notifications keep their type.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 * https://developer.apple.com/documentation/bundleresources/entitlements/com.apple.developer.usernotifications.filtering
 * @throws TypeError for a notification or device of another vendor.
 */
export function buildApnsNotification(
  { notification, device }: Delivery,
  { hasFilteringEntitlement }: Pick<ApnsApp, 'hasFilteringEntitlement'>,
): ApnsNotification {
  const { target } = device;
  const { urgency, notificationId, timeToLiveSeconds } = notification;
  const collapseId = vendorCollapseId(notification);
  if (urgency.vendor !== 'apns' || target.tokenKind !== 'apns') {
    throw new TypeError(`notification ${notificationId} is not for APNs`);
  }
  const expiration = timeToLiveSeconds === 0 ? 0 : Math.floor(expiresAt(notification) / 1000);
  const isBackground = urgency.pushType === 'background' && urgency.isForwarded !== true;
  const isFiltered = isBackground && hasFilteringEntitlement;
  // APNs refuses background notifications with priority 10.
  const priority = isBackground && urgency.priority === 10 ? 5 : urgency.priority;
  const headers: ApnsHeaders = {
    'apns-topic': target.iosAppId,
    'apns-push-type': isFiltered ? 'alert' : urgency.pushType,
    'apns-priority': String(priority),
    'apns-id': notificationId,
    'apns-expiration': String(expiration),
    [sensitiveHeaders]: neverIndexed,
  };
  if (collapseId !== undefined) headers['apns-collapse-id'] = collapseId;
  return {
    path: `/3/device/${compactApnsToken(target.token)}`,
    headers,
    body: notification.plaintext ?? buildApnsBody(isFiltered ? filteredAps : urgency.aps, notification),
  };
}

/** Builds the JSON body by hand, because `JSON.stringify` cannot write the 64-bit account id as a number. */
function buildApnsBody(aps: string, notification: EncryptedNotification): string {
  const { name, text } = keyField(notification);
  return `{"aps":${aps},"${name}":${text},"encrypted_data":"${notification.encryptedData}"}`;
}

const emptyBodyBytes = '{"aps":,"":,"encrypted_data":""}'.length;

/** Returns the maximum size of the body in bytes, with or without the filtering entitlement. The body is ASCII. */
export function apnsBodyBytes(
  { pushType, aps: asked, isForwarded }: ApnsUrgency,
  notification: EncryptedNotification,
): number {
  const mayBeFiltered =
    pushType === 'background' && isForwarded !== true && asked.length < filteredAps.length;
  const apsBytes = mayBeFiltered ? filteredAps.length : asked.length;
  const { name, text } = keyField(notification);
  return emptyBodyBytes + apsBytes + name.length + text.length + notification.encryptedData.length;
}
