import {
  decodePublicKey,
  encodeBase64,
  formatPushAccountId,
  type JsonObject,
  parseJson,
  parsePushAccountId,
  stringifyJson,
} from '@waxwing/protocol';
import type { PushToken } from '../build-registration.js';
import type { PushAccount, SentRegistration } from './push-account.js';

/** An account as one line of text for a store. It holds the private key: keep it where the system keeps secrets. */
export function encodePushAccount(account: PushAccount): string {
  const { pushAccountId, keyPair, userId, realmUrl, registration } = account;
  return stringifyJson({
    pushAccountId: formatPushAccountId(pushAccountId),
    realmUrl,
    userId,
    publicKey: encodeBase64(keyPair.publicKey),
    privateKey: encodeBase64(keyPair.privateKey),
    ...(registration === undefined ? {} : { registration: registration as unknown as JsonObject }),
  });
}

/** The account in a text of `encodePushAccount`. @throws SyntaxError for any other text. */
export function decodePushAccount(text: string): PushAccount {
  const row = parseJson(text) as JsonObject;
  const pushAccountId = parsePushAccountId(row?.pushAccountId);
  const publicKey = decodePublicKey(String(row?.publicKey));
  const privateKey = decodePublicKey(String(row?.privateKey));
  const { realmUrl, userId } = row;
  if (
    pushAccountId === undefined ||
    publicKey === undefined ||
    privateKey === undefined ||
    typeof realmUrl !== 'string' ||
    (typeof userId !== 'number' && typeof userId !== 'bigint')
  ) {
    throw new SyntaxError('The text is not an account that encodePushAccount has written.');
  }
  const account = { pushAccountId, realmUrl, userId, keyPair: { publicKey, privateKey } };
  if (row.registration === undefined) return account;
  return { ...account, registration: decodeRegistration(row.registration as JsonObject) };
}

function decodeRegistration(row: JsonObject): SentRegistration {
  const { pushToken, bouncerPublicKey, timestamp } = row;
  if (
    typeof pushToken !== 'object' ||
    typeof bouncerPublicKey !== 'string' ||
    typeof timestamp !== 'number'
  ) {
    throw new SyntaxError('The text holds a registration that encodePushAccount has not written.');
  }
  const registration = { pushToken: pushToken as unknown as PushToken, bouncerPublicKey, timestamp };
  return typeof row.repeatedForSequence === 'number'
    ? { ...registration, repeatedForSequence: row.repeatedForSequence }
    : registration;
}
