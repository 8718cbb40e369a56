import type { Delivery } from '../delivery.js';
import { apnsBodyBytes } from './apns/message.js';
import { fcmDataBytes } from './fcm/message.js';

/** Bytes of what a vendor limits: FCM's data, or the body for APNs. */
export function payloadBytes({ notification }: Delivery): number {
  const { urgency } = notification;
  return urgency.vendor === 'fcm' ? fcmDataBytes(notification) : apnsBodyBytes(urgency, notification);
}
