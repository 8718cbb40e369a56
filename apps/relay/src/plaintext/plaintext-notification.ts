import { randomUUID } from 'node:crypto';
import { type JsonObject, type JsonValue, maximumTimeToLiveSeconds, stringifyJson } from '@waxwing/protocol';
import type { EncryptedNotification, VendorUrgency } from '../deliveries/delivery.js';
import { asciiJson } from '../deliveries/requests/read-push-request.js';
import type { PlaintextDevice } from './plaintext-devices.js';

/** A notification as a server sends it, with a payload for each vendor. */
export interface PlaintextPayloads {
  readonly gcm: JsonObject;
  readonly gcmPriority: 'high' | 'normal' | undefined;
  readonly apns: JsonObject;
}

interface Envelope {
  readonly serverId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
}

/** Builds the notification for one device. */
export function buildPlaintextNotification(
  device: PlaintextDevice,
  payloads: PlaintextPayloads,
  { serverId, receivedAt }: Envelope,
): EncryptedNotification {
  const { kind, id: relayDeviceId, realmId, realmUuid, addressee } = device;
  const body = kind === 'fcm' ? fcmData(payloads.gcm) : apnsBody(payloads.apns);
  return {
    serverId,
    realmId,
    realmUuid,
    relayDeviceId,
    addressee,
    notificationId: randomUUID(),
    encryptedData: '',
    plaintext: asciiJson(body),
    urgency: kind === 'fcm' ? fcmUrgency(payloads) : apnsUrgency(payloads.apns),
    receivedAt,
    timeToLiveSeconds: maximumTimeToLiveSeconds,
    collapseId: undefined,
  };
}

// https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages
const reservedKey = /^(?:from|message_type|google\..*|gcm\.notification\..*)$/;

/**
 * Converts a payload to FCM's `data`, whose values must be strings. Omits keys that FCM reserves, because FCM would
 * reject the message.
 */
function fcmData(payload: JsonObject): JsonObject {
  const entries = Object.entries(payload).filter(([name]) => !reservedKey.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, toText(value)]));
}

/** Converts a value to a string as a stock relay does, with True, False and None. Apps expect this format. */
function toText(value: JsonValue): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  return typeof value === 'string' ? value : stringifyJson(value);
}

/** Returns the urgency for FCM. If the server sets no priority, only chat messages get high priority. */
function fcmUrgency({ gcm, gcmPriority }: PlaintextPayloads): VendorUrgency {
  return { vendor: 'fcm', priority: gcmPriority ?? (gcm.event === 'message' ? 'high' : 'normal') };
}

/** Builds the body for APNs: the app's own fields (`custom`) next to `aps`, which contains all other fields. */
function apnsBody({ custom, ...aps }: JsonObject): JsonObject {
  const own = typeof custom === 'object' && custom !== null && !Array.isArray(custom) ? custom : {};
  return { ...(own as JsonObject), aps };
}

/**
 * Chooses push type and priority, because servers do not send them. Apple treats a badge-only notification as an alert,
 * but it must not wake the phone.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 */
function apnsUrgency(payload: JsonObject): VendorUrgency {
  const isShown = ['alert', 'badge', 'sound'].some((name) => payload[name] !== undefined);
  const pushType = isShown ? 'alert' : 'background';
  const priority = payload.alert === undefined ? 5 : 10;
  return { vendor: 'apns', priority, pushType, aps: '', isForwarded: true };
}
