import { createHash } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import {
  encodeBase64,
  encodePushKey,
  encodePushRegistration,
  type KeyListDocument,
  keyListSignedBytes,
  parsePushAccountId,
  signingKeyEndorsedBytes,
  stringifyJson,
  type UserId,
} from '@waxwing/protocol';
import { encodeNotification } from '#server-push/notifications/encode-notification.js';
import { publicKeyOf, seal, sealSecretBox, signDetached } from '../../support/noble-oracle.js';

/** Derives 32 reproducible bytes from a name: its SHA-256. */
function secretOf(name: string): Uint8Array {
  return new Uint8Array(createHash('sha256').update(`waxwing protocol example: ${name}`).digest());
}

function boxKeys(name: string) {
  const privateKey = secretOf(name);
  return { privateKey, publicKey: publicKeyOf(privateKey) };
}

function signingKeys(name: string) {
  const seed = secretOf(name);
  return { seed, publicKey: ed25519.getPublicKey(seed) };
}

/** The keys of the example. */
export const keys = {
  bouncer: boxKeys('bouncer key'),
  olderBouncer: boxKeys('older bouncer key'),
  revokedBouncer: boxKeys('revoked bouncer key'),
  account: boxKeys('account key'),
  registrationEphemeral: boxKeys('ephemeral key of the registration'),
  notificationEphemeral: boxKeys('ephemeral key of the notification'),
  firstSigning: signingKeys('first signing key'),
  secondSigning: signingKeys('second signing key'),
  thirdSigning: signingKeys('third signing key'),
  recovery: signingKeys('recovery key'),
  push: secretOf('push key'),
};

/** 2026-03-01T00:00:00Z in Unix seconds. */
export const at = 1_772_323_200;
export const realm = {
  uuid: '9aa61d0b-8ce5-488d-8e9e-fedc346e6836',
  url: 'https://chat.example.com',
  name: 'Example',
};
// Larger than 2^53, so that parsing it as a double fails visibly.
export const pushAccountId = parsePushAccountId('8123456789012345678') ?? notAnId();
export const userId = 17 as UserId;
const deviceId = 42;

function notAnId(): never {
  throw new RangeError('the push account id of the example is invalid');
}

/** The endorsement of `next` by the signing key made from this seed, in base64. */
function endorse(next: Uint8Array, seed: Uint8Array): string {
  return encodeBase64(signDetached(signingKeyEndorsedBytes(next), seed));
}

/** Wraps a text to lines of a hundred characters, as the page shows long base64. */
function wrap(text: string): string {
  return text.replace(/(.{100})(?=.)/g, '$1\n');
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

const lines = (values: Record<string, string>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');

const {
  account,
  bouncer,
  firstSigning,
  olderBouncer,
  recovery,
  revokedBouncer,
  secondSigning,
  thirdSigning,
} = keys;

const registrationFields = {
  tokenKind: 'fcm',
  token: 'an-example-token:APA91b',
  timestamp: at,
  audience: realm.uuid,
  pushAccountId,
  sequence: at * 1000 + 123,
} as const;
const nonce = encodeBase64(secretOf('nonce').slice(0, 16));
const registration = encodePushRegistration(registrationFields, { nonce, padded: true });
const sealedRegistration = seal(registration, bouncer.publicKey, keys.registrationEphemeral.privateKey);

const day = 86_400;
const document: KeyListDocument = {
  version: 1,
  sequence: at * 1000,
  issued_at: at,
  expires_at: at + 30 * day,
  keys: [
    { public_key: encodeBase64(bouncer.publicKey), state: 'primary', created_at: at, accepted_until: null },
    {
      public_key: encodeBase64(olderBouncer.publicKey),
      state: 'accepted',
      created_at: at - 90 * day,
      accepted_until: at + 400 * day,
    },
  ],
  revoked: [encodeBase64(revokedBouncer.publicKey)],
  signing_keys: [
    { public_key: encodeBase64(firstSigning.publicKey), endorsement: null },
    {
      public_key: encodeBase64(secondSigning.publicKey),
      endorsement: endorse(secondSigning.publicKey, firstSigning.seed),
    },
  ],
  recovery_public_key: encodeBase64(recovery.publicKey),
};
const documentText = JSON.stringify(document);
const documentBytes = new TextEncoder().encode(documentText);
const keyListInput = keyListSignedBytes(documentBytes);

const notification = encodeNotification(realm, userId, {
  type: 'message',
  messageId: 1234,
  time: at + 60,
  content: 'Lunch?',
  senderId: 9,
  senderFullName: 'Ada',
  senderAvatarUrl: 'https://chat.example.com/avatar/9',
  recipient: { kind: 'channel', channelId: 3, channelName: 'general', topic: 'food' },
});
const sealedNotification = seal(notification, account.publicKey, keys.notificationEphemeral.privateKey);
const encryptedData = encodeBase64(sealedNotification);

const boxNonce = secretOf('nonce of the notification').slice(0, 24);
const secretBox = encodeBase64(Buffer.concat([boxNonce, sealSecretBox(notification, boxNonce, keys.push)]));

/** The exact text on the page for each part of the example. */
export const example: Readonly<Record<string, string>> = {
  keys: lines({
    'bouncer private key': encodeBase64(bouncer.privateKey),
    'bouncer public key': encodeBase64(bouncer.publicKey),
    'account private key': encodeBase64(account.privateKey),
    'account public key': encodeBase64(account.publicKey),
    'first signing seed': encodeBase64(firstSigning.seed),
    'first signing public key': encodeBase64(firstSigning.publicKey),
    'second signing seed': encodeBase64(secondSigning.seed),
    'second signing public key': encodeBase64(secondSigning.publicKey),
    'recovery seed': encodeBase64(recovery.seed),
    'recovery public key': encodeBase64(recovery.publicKey),
    'ephemeral private key of the registration': encodeBase64(keys.registrationEphemeral.privateKey),
    'ephemeral private key of the notification': encodeBase64(keys.notificationEphemeral.privateKey),
  }),
  registration: Buffer.from(registration).toString().trimEnd(),
  encrypted_push_registration: wrap(encodeBase64(sealedRegistration)),
  'key list document': documentText,
  'start of the signature input': hex(keyListInput.slice(0, keyListInput.length - documentBytes.length)),
  'key list answer': stringifyJson({
    result: 'success',
    msg: '',
    key_list: encodeBase64(documentBytes),
    signature: encodeBase64(signDetached(keyListInput, secondSigning.seed)),
    signing_public_key: encodeBase64(secondSigning.publicKey),
  }),
  'endorsement input': hex(signingKeyEndorsedBytes(secondSigning.publicKey)),
  'endorsement by the recovery key': lines({
    'third signing public key': encodeBase64(thirdSigning.publicKey),
    endorsement: endorse(thirdSigning.publicKey, recovery.seed),
  }),
  notification: Buffer.from(notification).toString().trimEnd(),
  encrypted_data: wrap(encryptedData),
  'FCM data': stringifyJson({ push_account_id: String(pushAccountId), encrypted_data: encryptedData }),
  'push key': lines({ push_key: encodePushKey(keys.push), nonce: encodeBase64(boxNonce) }),
  'secret box': wrap(secretBox),
  'notify body': stringifyJson({
    realm_uuid: realm.uuid,
    push_requests: [
      {
        device_id: deviceId,
        fcm_priority: 'high',
        payload: { push_account_id: pushAccountId, encrypted_data: encryptedData },
      },
    ],
  }),
};
