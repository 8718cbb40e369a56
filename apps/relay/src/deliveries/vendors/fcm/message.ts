import { type Delivery, expiresAt, vendorCollapseId } from '../../delivery.js';
import type { FcmApp } from './app.js';

export interface FcmMessageOptions {
  /** Unix milliseconds. */
  readonly now: number;
  readonly addressBy: FcmApp['addressBy'];
  readonly isValidateOnly?: boolean | undefined;
}

/**
 * The body of `messages:send`: a data message, so that the app and not the system decides what is shown. All values of
 * `data` are text. A phone is named by `token` today; Google has announced `fid` in its place.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
 */
export function buildFcmMessage(
  { notification, device }: Delivery,
  { now, addressBy, isValidateOnly = false }: FcmMessageOptions,
): string {
  const { pushAccountId, encryptedData, urgency } = notification;
  const collapseId = vendorCollapseId(notification);
  // A clock that was set back meanwhile gives no more than was asked for: FCM refuses more than it allows.
  const secondsLeft = Math.min(
    notification.timeToLiveSeconds,
    Math.max(0, Math.ceil((expiresAt(notification) - now) / 1000)),
  );
  const isHigh = urgency.vendor === 'fcm' && urgency.priority === 'high';
  return JSON.stringify({
    ...(isValidateOnly && { validate_only: true }),
    message: {
      [addressBy]: device.target.token,
      data: { push_account_id: pushAccountId, encrypted_data: encryptedData },
      android: {
        priority: isHigh ? 'HIGH' : 'NORMAL',
        ttl: `${secondsLeft}s`,
        ...(collapseId !== undefined && { collapse_key: collapseId }),
      },
    },
  });
}

/** Bytes that count against FCM's limit: keys and values of the data, all of them ASCII. */
export function fcmDataBytes({ pushAccountId, encryptedData }: Delivery['notification']): number {
  return 'push_account_id'.length + pushAccountId.length + 'encrypted_data'.length + encryptedData.length;
}
