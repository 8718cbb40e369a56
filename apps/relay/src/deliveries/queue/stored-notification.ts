import { parseJson, stringifyJson } from '@waxwing/protocol';
import type { Notification } from '../delivery.js';

/** A notification as text for the job queue; the token is not in it, the device's row has it. */
export function encodeNotification({ collapseId, urgency, ...rest }: Notification): string {
  return stringifyJson({ ...rest, collapseId: collapseId ?? null, urgency: { ...urgency } });
}

/** What {@link encodeNotification} wrote. */
export function decodeNotification(text: string): Notification {
  // Only the relay itself writes its jobs.
  const { collapseId, ...rest } = parseJson(text) as unknown as StoredNotification;
  return { ...rest, collapseId: collapseId ?? undefined };
}

interface StoredNotification extends Omit<Notification, 'collapseId'> {
  readonly collapseId: string | null;
}
