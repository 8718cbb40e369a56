import {
  decodePublicKey,
  encodeBase64,
  formatPushAccountId,
  isJsonObject,
  type JsonObject,
  parseJson,
  parsePushAccountId,
  stringifyJson,
} from '@waxwing/protocol/phone';
import { decodeAccountDevice, encodeAccountDevice } from './account-device-text.js';
import type { PushAccount } from './push-account.js';
import { decodeRegistration, encodeRegistration } from './sent-registration-text.js';

/**
 * Encodes an account as one line of text for a store. The text contains the private key: keep it in the system's secret
 * storage.
 */
export function encodePushAccount(account: PushAccount): string {
  const { pushAccountId, keyPair, userId, realmUrl, sequence, registration, device } = account;
  return stringifyJson({
    pushAccountId: formatPushAccountId(pushAccountId),
    realmUrl,
    userId,
    publicKey: encodeBase64(keyPair.publicKey),
    privateKey: encodeBase64(keyPair.privateKey),
    ...(sequence === undefined ? {} : { sequence }),
    ...(registration === undefined ? {} : { registration: encodeRegistration(registration) }),
    ...(device === undefined ? {} : { device: encodeAccountDevice(device) }),
  });
}

/** Decodes the output of {@link encodePushAccount}. @throws SyntaxError for anything else. */
export function decodePushAccount(text: string): PushAccount {
  const row = parseJson(text);
  if (!isJsonObject(row)) throw notAnAccount();
  const pushAccountId = parsePushAccountId(row.pushAccountId);
  const publicKey = decodePublicKey(String(row.publicKey));
  const privateKey = decodePublicKey(String(row.privateKey));
  const { realmUrl, userId, sequence } = row;
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
  return {
    pushAccountId,
    realmUrl,
    userId,
    keyPair: { publicKey, privateKey },
    ...(sequence === undefined ? {} : { sequence }),
    ...decodeRegistrations(row),
  };
}

function decodeRegistrations({
  registration,
  device,
}: JsonObject): Pick<PushAccount, 'registration' | 'device'> {
  const decoded = registration === undefined ? null : decodeRegistration(registration);
  const decodedDevice = device === undefined ? null : decodeAccountDevice(device);
  if (decoded === undefined || decodedDevice === undefined) throw notAnAccount();
  return {
    ...(decoded === null ? {} : { registration: decoded }),
    ...(decodedDevice === null ? {} : { device: decodedDevice }),
  };
}

function notAnAccount(): SyntaxError {
  return new SyntaxError('The text is not an account that encodePushAccount has written.');
}
