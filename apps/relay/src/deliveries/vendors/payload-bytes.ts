import type { Delivery, Vendor } from '../delivery.js';
import { apnsBodyBytes } from './apns/message.js';
import { fcmDataBytes } from './fcm/message.js';
import { webPushBodyBytes } from './webpush/message.js';

/**
 * Returns the number of bytes that count toward the vendor's limit: the data for FCM, or the body for APNs and push
 * services.
 */
export function payloadBytes({ notification, device: { target } }: Delivery): number {
  const { plaintext, urgency } = notification;
  if (target.tokenKind === 'webpush') return webPushBodyBytes(notification);
  if (plaintext !== undefined) return plaintextBytes(plaintext, urgency.vendor);
  return urgency.vendor === 'fcm' ? fcmDataBytes(notification) : apnsBodyBytes(urgency, notification);
}

function plaintextBytes(plaintext: string, vendor: Vendor): number {
  if (vendor === 'apns') return Buffer.byteLength(plaintext);
  const data = JSON.parse(plaintext) as Record<string, string>;
  return Buffer.byteLength(Object.entries(data).flat().join(''));
}
