import {
  decodePublicKey,
  encodeBase64,
  formatPushAccountId,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  parsePushAccountId,
  stringifyJson,
} from '@waxwing/protocol/phone';
import type { PushToken } from '../build-registration.js';
import type { PushAccount, SentRegistration } from './push-account.js';

const noToken: PushToken = { tokenKind: 'fcm', token: '' };

/**
 * Encodes an account as one line of text for a store. It contains the private key: keep it in the system's secret
 * storage.
 */
export function encodePushAccount(account: PushAccount): string {
  const { pushAccountId, keyPair, userId, realmUrl, sequence, registration } = account;
  return stringifyJson({
    pushAccountId: formatPushAccountId(pushAccountId),
    realmUrl,
    userId,
    publicKey: encodeBase64(keyPair.publicKey),
    privateKey: encodeBase64(keyPair.privateKey),
    ...(sequence === undefined ? {} : { sequence }),
    ...(registration === undefined
      ? {}
      : { registration: { ...registration, pushToken: { ...registration.pushToken } } }),
  });
}

/** Decodes a text of {@link encodePushAccount}. @throws SyntaxError for any other text. */
export function decodePushAccount(text: string): PushAccount {
  const row = parseJson(text);
  if (!isJsonObject(row)) throw notAnAccount();
  const pushAccountId = parsePushAccountId(row.pushAccountId);
  const publicKey = decodePublicKey(String(row.publicKey));
  const privateKey = decodePublicKey(String(row.privateKey));
  const { realmUrl, userId, sequence, registration } = row;
  if (
    pushAccountId === undefined ||
    publicKey === undefined ||
    privateKey === undefined ||
    typeof realmUrl !== 'string' ||
    (typeof userId !== 'number' && typeof userId !== 'bigint') ||
    (sequence !== undefined && typeof sequence !== 'number')
  ) {
    throw notAnAccount();
  }
  const account: PushAccount = {
    pushAccountId,
    realmUrl,
    userId,
    keyPair: { publicKey, privateKey },
    ...(sequence === undefined ? {} : { sequence }),
  };
  return registration === undefined
    ? account
    : { ...account, registration: decodeRegistration(registration) };
}

function decodeRegistration(row: JsonValue): SentRegistration {
  if (!isJsonObject(row)) throw notAnAccount();
  const { pushToken, bouncerPublicKey, timestamp } = row;
  if (!isJsonObject(pushToken) || typeof bouncerPublicKey !== 'string' || typeof timestamp !== 'number') {
    throw notAnAccount();
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

function notAnAccount(): SyntaxError {
  return new SyntaxError('The text is not an account that encodePushAccount has written.');
}
