import {
  decodePushKey,
  encodePushKey,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseClientDeviceId,
  parsePushKeyId,
} from '@waxwing/protocol/phone';
import type { AccountDevice, PushKey } from './account-device.js';
import { decodeRegistration, encodeRegistration } from './sent-registration-text.js';

/** Encodes an account's device as JSON, for `encodePushAccount`. The JSON contains secret keys. */
export function encodeAccountDevice({ pushKeys, sent, ...device }: AccountDevice): JsonObject {
  return {
    ...device,
    pushKeys: pushKeys.map(({ key, ...pushKey }) => ({ ...pushKey, key: encodePushKey(key) })),
    ...(sent === undefined ? {} : { sent: encodeRegistration(sent) }),
  };
}

/** Decodes the JSON of {@link encodeAccountDevice}. Returns `undefined` for any other JSON. */
export function decodeAccountDevice(row: JsonValue): AccountDevice | undefined {
  if (!isJsonObject(row) || !Array.isArray(row.pushKeys)) return undefined;
  const pushKeys = row.pushKeys.map(decodeStoredKey);
  const deviceId = row.deviceId === undefined ? null : parseClientDeviceId(row.deviceId);
  const sent = row.sent === undefined ? null : decodeRegistration(row.sent);
  const { keyPairUnusedSince = null } = row;
  if (deviceId === undefined || sent === undefined || !isTime(keyPairUnusedSince)) return undefined;
  if (!pushKeys.every((key) => key !== undefined)) return undefined;
  return {
    pushKeys,
    ...(deviceId === null ? {} : { deviceId }),
    ...(sent === null ? {} : { sent }),
    ...(keyPairUnusedSince === null ? {} : { keyPairUnusedSince }),
  };
}

function decodeStoredKey(row: JsonValue): PushKey | undefined {
  if (!isJsonObject(row)) return undefined;
  const pushKeyId = parsePushKeyId(row.pushKeyId);
  const key = typeof row.key === 'string' ? decodePushKey(row.key) : undefined;
  const { createdAt, supersededAt = null } = row;
  if (pushKeyId === undefined || key === undefined || typeof createdAt !== 'number') return undefined;
  if (!isTime(supersededAt)) return undefined;
  return { pushKeyId, key, createdAt, ...(supersededAt === null ? {} : { supersededAt }) };
}

function isTime(value: JsonValue): value is number | null {
  return value === null || typeof value === 'number';
}
