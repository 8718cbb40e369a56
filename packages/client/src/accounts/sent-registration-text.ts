import { isJsonObject, type JsonObject, type JsonValue } from '@waxwing/protocol/phone';
import type { PushToken } from '../build-registration.js';
import type { SentRegistration } from './sent-registration.js';

const noToken: PushToken = { tokenKind: 'fcm', token: '' };

export function encodeRegistration(registration: SentRegistration): JsonObject {
  return { ...registration, pushToken: { ...registration.pushToken } };
}

/** Returns `undefined` for any JSON that is no registration. */
export function decodeRegistration(row: JsonValue): SentRegistration | undefined {
  if (!isJsonObject(row)) return undefined;
  const { pushToken, bouncerPublicKey, timestamp } = row;
  if (!isJsonObject(pushToken) || typeof bouncerPublicKey !== 'string' || typeof timestamp !== 'number') {
    return undefined;
  }
  const registration = { pushToken: decodePushToken(pushToken), bouncerPublicKey, timestamp };
  return typeof row.repeatedForSequence === 'number'
    ? { ...registration, repeatedForSequence: row.repeatedForSequence }
    : registration;
}

/** Replaces an invalid token by one that no phone has, so that the phone registers again. */
function decodePushToken({ tokenKind, token, iosAppId, apnsEnvironment }: JsonObject): PushToken {
  if (typeof token !== 'string') return noToken;
  if (tokenKind === 'fcm') return { tokenKind, token };
  if (tokenKind !== 'apns' || typeof iosAppId !== 'string') return noToken;
  if (apnsEnvironment === undefined) return { tokenKind, token, iosAppId };
  if (apnsEnvironment !== 'production' && apnsEnvironment !== 'sandbox') return noToken;
  return { tokenKind, token, iosAppId, apnsEnvironment };
}
