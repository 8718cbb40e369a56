import { encodeBase64 } from '@waxwing/protocol';
import { Secret } from '@waxwing/service';
import type { Sodium } from '@waxwing/sodium';
import type { KeyRing, SigningKey, TokenKey } from './key-ring.js';
import { newPrimaryKey } from './key-ring-transitions.js';

/** A ring with one fresh key of each kind. `now` in Unix milliseconds. */
export function newKeyRing(sodium: Sodium, now: number): KeyRing {
  return {
    bouncerKeys: [newPrimaryKey(sodium.generateKeyPair(), now)],
    signingKeys: [newSigningKey(sodium, now)],
    revokedSigningKeys: [],
    recoveryPublicKey: undefined,
    tokenKeys: [newTokenKey(sodium, 0)],
    published: undefined,
  };
}

export function newSigningKey(sodium: Sodium, createdAt: number): SigningKey {
  const { publicKey, privateKey } = sodium.generateSigningKeyPair();
  return {
    publicKey: encodeBase64(publicKey),
    privateKey: new Secret(privateKey),
    createdAt,
    endorsement: undefined,
  };
}

export function newTokenKey(sodium: Sodium, currentFrom: number): TokenKey {
  return {
    id: Buffer.from(sodium.randomBytes(4)).toString('hex'),
    encryptionKey: new Secret(sodium.randomBytes(32)),
    lookupKey: new Secret(sodium.randomBytes(32)),
    currentFrom,
  };
}
