import { sensitiveHeaders } from 'node:http2';
import { compactApnsToken } from '@waxwing/protocol';
import {
  type Delivery,
  type EncryptedNotification,
  expiresAt,
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

// Values that differ each time would fill the connection's small header table; `authorization` and `:path` are kept out
// of it by Node already. https://developer.apple.com/library/archive/documentation/NetworkingInternet/Conceptual/RemoteNotificationsPG/CommunicatingwithAPNs.html
const neverIndexed = ['apns-id', 'apns-expiration', 'apns-collapse-id'];

/**
 * A notification as APNs wants it.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 */
export function buildApnsNotification({ notification, device }: Delivery): ApnsNotification {
  const { target } = device;
  const { urgency, notificationId, timeToLiveSeconds } = notification;
  const collapseId = vendorCollapseId(notification);
  if (urgency.vendor !== 'apns' || target.tokenKind !== 'apns') {
    throw new TypeError(`notification ${notificationId} is not for APNs`);
  }
  const expiration = timeToLiveSeconds === 0 ? 0 : Math.floor(expiresAt(notification) / 1000);
  // Apple refuses a background notification of priority 10.
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

/** The JSON body; the 64-bit account id is a number in it, written digit by digit. */
function buildApnsBody(
  { aps }: ApnsUrgency,
  { pushAccountId, encryptedData }: EncryptedNotification,
): string {
  return `{"aps":${aps},"push_account_id":${pushAccountId},"encrypted_data":"${encryptedData}"}`;
}

const emptyBodyBytes = '{"aps":,"push_account_id":,"encrypted_data":""}'.length;

/** Bytes of the body, all of it ASCII. */
export function apnsBodyBytes(
  { aps }: ApnsUrgency,
  { pushAccountId, encryptedData }: EncryptedNotification,
): number {
  return emptyBodyBytes + aps.length + pushAccountId.length + encryptedData.length;
}
