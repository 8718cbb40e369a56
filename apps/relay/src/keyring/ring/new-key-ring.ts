import { encodeBase64 } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { Secret } from '@waxwing/service/config';
import type { Sodium } from '@waxwing/sodium';
import type { KeyRing, SigningKey, SigningPublicKey, TokenKey } from './key-ring.js';
import { importKeys, newPrimaryKey, promote, type TransitionContext } from './key-ring-transitions.js';
import type { PlainKeys } from './plain-keys.js';

/** Creates a ring with one new key of each required kind. `now` is in Unix milliseconds. */
export function newKeyRing(sodium: Sodium, now: number): KeyRing {
  return {
    bouncerKeys: [newPrimaryKey(sodium.generateKeyPair(), now)],
    signingKeys: [newSigningKey(sodium, now)],
    revokedSigningKeys: [],
    recoveryPublicKey: undefined,
    tokenKeys: [newTokenKey(sodium, 0)],
    vapidKeys: [],
    published: undefined,
  };
}

/**
 * Creates a ring with the bouncer keys from a plain file, and new keys of the other kinds. `primary` overrides the
 * file's choice of the primary key.
 * @throws CommandError if neither names a primary key.
 */
export function newKeyRingOf(
  plain: PlainKeys,
  primary: string | undefined,
  { sodium, ...context }: Pick<TransitionContext, 'now' | 'policy'> & { readonly sodium: Sodium },
): KeyRing {
  const chosen = primary ?? plain.primary;
  if (chosen === undefined) {
    throw new CommandError(
      'The file does not say which of its keys clients should use: set the newest with --primary <public-key>.',
    );
  }
  const empty = { ...newKeyRing(sodium, context.now), bouncerKeys: [] };
  return promote(importKeys(empty, plain.keys, context), chosen, context);
}

export function newSigningKey(sodium: Sodium, createdAt: number): SigningKey {
  const { publicKey, privateKey } = sodium.generateSigningKeyPair();
  return {
    publicKey: encodeBase64(publicKey) as SigningPublicKey,
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
