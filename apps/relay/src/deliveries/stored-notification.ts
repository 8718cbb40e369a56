import { parseJson, stringifyJson } from '@waxwing/protocol';
import type { Notification } from './delivery.js';

/** A notification as text for the job queue; the token is not in it, the device's row has it. */
export function encodeNotification(notification: Notification): string {
  const { collapseId = null, urgency, ...rest } = notification;
  const stored = urgency.vendor === 'fcm' ? { ...urgency } : { ...urgency, aps: JSON.stringify(urgency.aps) };
  return stringifyJson({ ...rest, collapseId, urgency: stored });
}

/** What {@link encodeNotification} wrote. */
export function decodeNotification(text: string): Notification {
  const { collapseId, urgency, ...rest } = parseJson(text) as unknown as StoredNotification;
  return {
    ...rest,
    collapseId: collapseId ?? undefined,
    urgency: urgency.vendor === 'fcm' ? urgency : { ...urgency, aps: JSON.parse(urgency.aps) },
  };
}

type ApnsUrgency = Extract<Notification['urgency'], { vendor: 'apns' }>;
interface StoredNotification extends Omit<Notification, 'collapseId' | 'urgency'> {
  readonly collapseId: string | null;
  readonly urgency:
    | Extract<Notification['urgency'], { vendor: 'fcm' }>
    | (Omit<ApnsUrgency, 'aps'> & { readonly aps: string });
}
