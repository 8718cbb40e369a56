import { type Delivery, expiresAt, keyField, vendorCollapseId } from '../../delivery.js';
import type { FcmApp } from './app.js';
import { isInstallationId } from './installation-id.js';

export interface FcmMessageOptions {
  /** Unix milliseconds. */
  readonly now: number;
  readonly app: Pick<FcmApp, 'addressBy' | 'usesAndroidV2'>;
  readonly isValidateOnly?: boolean | undefined;
}

/** Alert that Android shows if the app cannot decrypt an urgent notification. */
const placeholder = { title: 'New notification' };

/**
 * Builds the body of `messages:send`. The message is a data message, whose values are strings, so that the app and not
 * the system decides what to display. Currently, `token` addresses any phone. Google announced `fid` as its successor
 * for phones that registered with an installation id. Other phones keep their registration tokens until they register
 * again.
 * https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
 */
export function buildFcmMessage(
  { notification, device }: Delivery,
  { now, app, isValidateOnly = false }: FcmMessageOptions,
): string {
  const { encryptedData, plaintext, urgency } = notification;
  const key = keyField(notification);
  const collapseId = vendorCollapseId(notification);
  // Capped: if the clock went backward, the TTL could exceed FCM's maximum.
  const secondsLeft = Math.min(
    notification.timeToLiveSeconds,
    Math.max(0, Math.ceil((expiresAt(notification) - now) / 1000)),
  );
  const isHigh = urgency.vendor === 'fcm' && urgency.priority === 'high';
  const { token } = device.target;
  const lifetime = {
    ttl: `${secondsLeft}s`,
    ...(collapseId !== undefined && { collapse_key: collapseId }),
  };
  return JSON.stringify({
    ...(isValidateOnly && { validate_only: true }),
    message: {
      [app.addressBy === 'fid' && isInstallationId(token) ? 'fid' : 'token']: token,
      data:
        plaintext === undefined
          ? { [key.name]: key.text, encrypted_data: encryptedData }
          : (JSON.parse(plaintext) as object),
      ...(app.usesAndroidV2
        ? { android_v2: { ...intentOf(isHigh), ...lifetime } }
        : { android: { priority: isHigh ? 'HIGH' : 'NORMAL', ...lifetime } }),
    },
  });
}

/**
 * Returns the AndroidConfigV2 fields that replace a priority. App builds that do not know these fields still get a data
 * message. https://firebase.google.com/docs/cloud-messaging/send/v2-api
 */
function intentOf(isUrgent: boolean): object {
  if (!isUrgent) return { background_sync: {} };
  return {
    remote_notification: { mutable_content: true, use_as_v1_data_message: true, notification: placeholder },
  };
}

/** Returns the number of bytes that count toward FCM's limit: all keys and values of `data`, which are ASCII. */
export function fcmDataBytes(notification: Delivery['notification']): number {
  const { name, text } = keyField(notification);
  return name.length + text.length + 'encrypted_data'.length + notification.encryptedData.length;
}
