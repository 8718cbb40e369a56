import { randomUUID } from 'node:crypto';
import type { RelayDeviceId } from '@waxwing/protocol';
import {
  formatPushAccountId,
  isApnsPushRequest,
  maximumTimeToLiveSeconds,
  type PushRequest,
} from '@waxwing/protocol';
import type { RealmId } from '../../servers/server-tables.js';
import type { EncryptedNotification, VendorUrgency } from '../delivery.js';

/** Who asks, and for which realm. */
export interface NotifyRequester {
  readonly serverId: string;
  readonly realmId: RealmId;
  readonly realmUuid: string;
}

/** Both vendors keep a notification for a phone that is off; a server that says nothing wants it kept. */
const defaultTimeToLiveSeconds = maximumTimeToLiveSeconds;

/** A push request in the relay's words. One without `notification_id` gets an id of ours. */
export function readPushRequest(
  request: PushRequest,
  requester: NotifyRequester,
  now: number,
): EncryptedNotification {
  const {
    payload,
    notification_id: notificationId,
    ttl_seconds: timeToLive,
    collapse_id: collapseId,
  } = request;
  // Field by field: spreading an object costs a hundred times as much, once for each notification.
  return {
    serverId: requester.serverId,
    realmId: requester.realmId,
    realmUuid: requester.realmUuid,
    relayDeviceId: Number(request.device_id) as RelayDeviceId,
    notificationId: notificationId ?? randomUUID(),
    pushAccountId: formatPushAccountId(payload.push_account_id),
    encryptedData: payload.encrypted_data,
    urgency: readUrgency(request),
    receivedAt: now,
    timeToLiveSeconds: timeToLive ?? defaultTimeToLiveSeconds,
    collapseId: collapseId ?? undefined,
  };
}

function readUrgency(request: PushRequest): VendorUrgency {
  if (!isApnsPushRequest(request)) return { vendor: 'fcm', priority: request.fcm_priority };
  const { apns_priority: priority, apns_push_type: pushType } = request.http_headers;
  return { vendor: 'apns', priority, pushType, aps: rebuildAps(request.payload.aps) };
}

/** Every `aps` dictionary that goes to a phone, as JSON, by which of its fields are there: these values and no other. */
const dictionaries = Array.from({ length: 16 }, (_, fields): string =>
  JSON.stringify({
    ...(fields & 1 && { alert: { title: 'New notification' } }),
    ...(fields & 2 && { 'mutable-content': 1 }),
    ...(fields & 4 && { sound: 'default' }),
    ...(fields & 8 && { 'content-available': 1 }),
  }),
);

/**
 * The `aps` for what a server asked for, as JSON in ASCII. Whatever a server writes as alert or sound becomes the one
 * neutral placeholder, because a phone shows it under the app's name when it cannot decrypt: a server must not be able
 * to put words of its own there.
 * https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification
 */
export function rebuildAps(asked: Readonly<Record<string, unknown>>): string {
  const fields =
    (isAsked(asked.alert) ? 1 : 0) |
    (asked['mutable-content'] === 1 ? 2 : 0) |
    (isAsked(asked.sound) ? 4 : 0) |
    (asked['content-available'] === 1 ? 8 : 0);
  return dictionaries[fields] ?? '{}';
}

function isAsked(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && value !== false;
}
