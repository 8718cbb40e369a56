import { randomUUID } from 'node:crypto';
import {
  type AnyPushRequest,
  formatPushAccountId,
  isApnsPushRequest,
  type JsonObject,
  maximumTimeToLiveSeconds,
  type RelayDeviceId,
  stringifyJson,
  type TokenId,
} from '@waxwing/protocol';
import { type Addressee, addresseeOfToken } from '../../registrations/store/addressee.js';
import type { FoundTokenDevices } from '../../registrations/store/devices-by-token.js';
import { beforeAllDevices } from '../../registrations/store/relay-device.js';
import type { RealmId } from '../../servers/server-tables.js';
import { type EncryptedNotification, type VendorUrgency, wakeAps } from '../delivery.js';

/** The server that sends a notify request, and its realm. */
export interface NotifyRequester {
  readonly serverId: string;
  readonly realmId: RealmId;
  readonly realmUuid: string;
  /** Identifies the trace of the request; absent if the request is not traced. */
  readonly traceparent?: string | undefined;
}

/** Default TTL: the maximum, because vendors store notifications for phones that are off. */
const defaultTimeToLiveSeconds = maximumTimeToLiveSeconds;

/**
 * Converts a push request to the relay's type. Generates a missing `notification_id`. `tokens` contains the devices for
 * the tokens that requests of the newer generation name.
 */
export function readPushRequest(
  request: AnyPushRequest,
  requester: NotifyRequester,
  tokens: FoundTokenDevices | undefined,
  now: number,
): EncryptedNotification {
  const {
    payload,
    notification_id: notificationId,
    ttl_seconds: timeToLive,
    collapse_id: collapseId,
  } = request;
  const { relayDeviceId, addressee, pushKeyId } = readTarget(request, requester.realmId, tokens);
  // Assigned field by field: a spread would be a hundred times slower.
  const notification: Mutable<EncryptedNotification> = {
    serverId: requester.serverId,
    realmId: requester.realmId,
    realmUuid: requester.realmUuid,
    relayDeviceId,
    notificationId: notificationId ?? randomUUID(),
    addressee,
    encryptedData: payload.encrypted_data,
    urgency: readUrgency(request),
    receivedAt: now,
    timeToLiveSeconds: timeToLive ?? defaultTimeToLiveSeconds,
    collapseId: collapseId ?? undefined,
  };
  if (pushKeyId !== undefined) notification.pushKeyId = pushKeyId;
  if (requester.traceparent !== undefined) notification.traceparent = requester.traceparent;
  return notification;
}

type Mutable<Type> = { -readonly [Name in keyof Type]: Type[Name] };

interface Target {
  readonly relayDeviceId: RelayDeviceId;
  readonly addressee: Addressee;
  readonly pushKeyId?: number;
}

/** Returns the device and key that a push request names. For an unknown token, returns an id that no device has. */
function readTarget(
  request: AnyPushRequest,
  realmId: RealmId,
  tokens: FoundTokenDevices | undefined,
): Target {
  if (!('token_id' in request)) {
    const addressee = formatPushAccountId(request.payload.push_account_id);
    return { relayDeviceId: Number(request.device_id) as RelayDeviceId, addressee };
  }
  const addressee = addresseeOfToken(request.token_id as TokenId);
  const relayDeviceId = tokens?.idOf(realmId, addressee) ?? beforeAllDevices;
  return { relayDeviceId, addressee, pushKeyId: request.payload.push_key_id };
}

function readUrgency(request: AnyPushRequest): VendorUrgency {
  if (!isApnsPushRequest(request)) return { vendor: 'fcm', priority: request.fcm_priority };
  const { apns_priority: priority, apns_push_type: pushType } = request.http_headers;
  if ('token_id' in request) {
    const aps = asciiJson(request.payload.aps);
    return { vendor: 'apns', priority, pushType, aps, isForwarded: true };
  }
  const aps = pushType === 'background' ? wakeAps : rebuildAps(request.payload.aps);
  return { vendor: 'apns', priority, pushType, aps };
}

/** Serializes JSON in ASCII, because requests to APNs are sent as ASCII. Escapes all other characters. */
export function asciiJson(value: JsonObject): string {
  return stringifyJson(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/**
 * Every `aps` dictionary that {@link rebuildAps} can return, as JSON. The index is the set of its fields, as bits.
 */
const dictionaries = Array.from({ length: 16 }, (_, fields): string =>
  JSON.stringify({
    ...(fields & 1 && { alert: { title: 'New notification' } }),
    ...(fields & 2 && { 'mutable-content': 1 }),
    ...(fields & 4 && { sound: 'default' }),
    ...(fields & 8 && { 'content-available': 1 }),
  }),
);

/**
 * Rebuilds the `aps` of a server's request, as ASCII JSON. Replaces any alert or sound with a neutral placeholder: a
 * phone that cannot decrypt the notification shows the alert under the app's name, so a server must not choose the
 * text.
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
