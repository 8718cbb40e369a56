import { randomUUID } from 'node:crypto';
import { isJsonObject, isPayloadId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { NotificationContent } from './notification-content.js';

/**
 * Assigns a payload its id and time, so that every delivery attempt sends the same notification.
 * @throws TypeError if the payload is not a JSON object, or if its id or time is invalid.
 */
export function completeContent(content: NotificationContent, now: number): NotificationContent {
  if (content.type !== 'payload') return content;
  const { id = randomUUID(), time = unixSeconds(now), payload } = content;
  if (!isJsonObject(payload)) throw new TypeError('The payload of a notification must be a JSON object.');
  if (!isPayloadId(id)) {
    throw new TypeError('The id of a notification must be 1 to 64 letters, digits, - and _.');
  }
  if (!Number.isSafeInteger(time)) {
    throw new TypeError('The time of a notification must be an integer: Unix seconds.');
  }
  return { type: 'payload', id, time, payload };
}
