import { type Delivery, expiresAt, keyField, vendorCollapseId } from '../../delivery.js';
import type { FcmApp } from './app.js';

export interface FcmMessageOptions {
  /** Unix milliseconds. */
  readonly now: number;
  readonly addressBy: FcmApp['addressBy'];
  readonly isValidateOnly?: boolean | undefined;
}

/**
 * Builds the body of `messages:send`. It is a data message, so that the app and not the system chooses the display. All
 * values of `data` are strings. `token` addresses the phone today; Google announced `fid` as its successor.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
 */
export function buildFcmMessage(
  { notification, device }: Delivery,
  { now, addressBy, isValidateOnly = false }: FcmMessageOptions,
): string {
  const { encryptedData, urgency } = notification;
  const key = keyField(notification);
  const collapseId = vendorCollapseId(notification);
  // Capped: after the clock was set back, the TTL could exceed what FCM allows.
  const secondsLeft = Math.min(
    notification.timeToLiveSeconds,
    Math.max(0, Math.ceil((expiresAt(notification) - now) / 1000)),
  );
  const isHigh = urgency.vendor === 'fcm' && urgency.priority === 'high';
  return JSON.stringify({
    ...(isValidateOnly && { validate_only: true }),
    message: {
      [addressBy]: device.target.token,
      data: { [key.name]: key.text, encrypted_data: encryptedData },
      android: {
        priority: isHigh ? 'HIGH' : 'NORMAL',
        ttl: `${secondsLeft}s`,
        ...(collapseId !== undefined && { collapse_key: collapseId }),
      },
    },
  });
}

/** Bytes that count toward FCM's limit: keys and values of `data`, all of them ASCII. */
export function fcmDataBytes(notification: Delivery['notification']): number {
  const { name, text } = keyField(notification);
  return name.length + text.length + 'encrypted_data'.length + notification.encryptedData.length;
}
