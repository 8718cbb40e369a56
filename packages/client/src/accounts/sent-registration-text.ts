import { isJsonObject, type JsonObject, type JsonValue } from '@waxwing/protocol/phone';
import type { PushToken } from '../push-token.js';
import type { RegistrationRepeats, SentRegistration } from './sent-registration.js';

const noToken: PushToken = { tokenKind: 'fcm', token: '' };

export function encodeRegistration({ repeats, ...registration }: SentRegistration): JsonObject {
  const encoded = { ...registration, pushToken: { ...registration.pushToken } };
  return repeats === undefined ? encoded : { ...encoded, repeats: { ...repeats } };
}

/** Decodes the JSON of a registration. Returns `undefined` for any other JSON. */
export function decodeRegistration(row: JsonValue): SentRegistration | undefined {
  if (!isJsonObject(row)) return undefined;
  const { pushToken, bouncerPublicKey, timestamp } = row;
  if (!isJsonObject(pushToken) || typeof bouncerPublicKey !== 'string' || typeof timestamp !== 'number') {
    return undefined;
  }
  const { repeatedForSequence, realmUuid } = row;
  return {
    pushToken: decodePushToken(pushToken),
    bouncerPublicKey,
    timestamp,
    ...(typeof repeatedForSequence === 'number' ? { repeatedForSequence } : {}),
    ...(typeof realmUuid === 'string' ? { realmUuid } : {}),
    ...decodeRepeats(row.repeats),
  };
}

/** Decodes the repeat count. Drops unreadable data, so the phone may repeat a registration earlier than necessary. */
function decodeRepeats(row: JsonValue | undefined): { readonly repeats?: RegistrationRepeats } {
  if (row === undefined || !isJsonObject(row)) return {};
  const { errorCode, count, lastAt } = row;
  if (typeof errorCode !== 'string' || typeof count !== 'number' || typeof lastAt !== 'number') return {};
  return { repeats: { errorCode, count, lastAt } };
}

/**
 * Decodes a push token. Replaces an invalid token with a dummy token that no phone has, so that the phone registers
 * again.
 */
function decodePushToken({ tokenKind, token, iosAppId, apnsEnvironment }: JsonObject): PushToken {
  if (typeof token !== 'string') return noToken;
  if (tokenKind === 'fcm' || tokenKind === 'webpush') return { tokenKind, token };
  if (tokenKind !== 'apns' || typeof iosAppId !== 'string') return noToken;
  if (apnsEnvironment === undefined) return { tokenKind, token, iosAppId };
  if (apnsEnvironment !== 'production' && apnsEnvironment !== 'sandbox') return noToken;
  return { tokenKind, token, iosAppId, apnsEnvironment };
}
