import type { WebPushSubscription } from '@waxwing/protocol';
import { type Delivery, expiresAt, keyField, vendorCollapseId } from '../../delivery.js';
import { encryptContent, encryptionOverheadBytes } from './encrypt-content.js';

/** A request to a push service, without its credential (https://www.rfc-editor.org/rfc/rfc8030#section-5). */
export interface WebPushMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Maximum length of a topic, which is base64url (https://www.rfc-editor.org/rfc/rfc8030#section-5.4). */
const topicCharacters = 32;

/**
 * Builds the request for one notification. The body is JSON with the same fields as FCM's `data`, encrypted for the
 * subscription.
 * @param now Unix milliseconds.
 * @throws Error if the subscription's public key is not a point on P-256.
 */
export function buildWebPushMessage(
  { notification }: Pick<Delivery, 'notification'>,
  { p256dh, auth }: WebPushSubscription,
  now: number,
): WebPushMessage {
  const { timeToLiveSeconds, urgency } = notification;
  const collapseId = vendorCollapseId(notification);
  const secondsLeft = Math.max(0, Math.ceil((expiresAt(notification) - now) / 1000));
  const isHigh = urgency.vendor === 'fcm' && urgency.priority === 'high';
  const keys = {
    publicKey: Buffer.from(p256dh, 'base64url'),
    authenticationSecret: Buffer.from(auth, 'base64url'),
  };
  return {
    headers: {
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      // Capped: if the clock went backward, the remaining time could exceed the requested TTL.
      ttl: String(Math.min(timeToLiveSeconds, secondsLeft)),
      urgency: isHigh ? 'high' : 'normal',
      ...(collapseId !== undefined && { topic: collapseId.slice(0, topicCharacters) }),
    },
    body: encryptContent(Buffer.from(contentOf(notification)), keys),
  };
}

/** Returns the body's size in bytes. Push services accept 4096 (https://www.rfc-editor.org/rfc/rfc8030#section-7.2). */
export function webPushBodyBytes(notification: Delivery['notification']): number {
  return Buffer.byteLength(contentOf(notification)) + encryptionOverheadBytes;
}

function contentOf(notification: Delivery['notification']): string {
  const { name, text } = keyField(notification);
  return JSON.stringify({ [name]: text, encrypted_data: notification.encryptedData });
}
