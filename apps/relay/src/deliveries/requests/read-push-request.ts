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

/** The server that sends a notify request, and the realm. */
export interface NotifyRequester {
  readonly serverId: string;
  readonly realmId: RealmId;
  readonly realmUuid: string;
}

/** Default: the maximum. Both vendors store notifications for phones that are off. */
const defaultTimeToLiveSeconds = maximumTimeToLiveSeconds;

/** Converts a push request to the relay's type. Generates a missing `notification_id`. */
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
  // Field by field: a spread costs a hundred times as much, once per notification.
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

/** Every `aps` dictionary that phones receive, as JSON. The index is a bit set of its fields; the values are fixed. */
const dictionaries = Array.from({ length: 16 }, (_, fields): string =>
  JSON.stringify({
    ...(fields & 1 && { alert: { title: 'New notification' } }),
    ...(fields & 2 && { 'mutable-content': 1 }),
    ...(fields & 4 && { sound: 'default' }),
    ...(fields & 8 && { 'content-available': 1 }),
  }),
);

/**
 * Rebuilds `aps` from a server's request, as ASCII JSON. Replaces any alert or sound by one neutral placeholder. A phone
 * that cannot decrypt shows the alert under the app's name, where a server must not place its own text.
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
