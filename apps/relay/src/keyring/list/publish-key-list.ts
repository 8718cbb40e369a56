import {
  encodeBase64,
  type KeyListDocument,
  keyListSignedBytes,
  signingKeyEndorsedBytes,
} from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { unixSeconds } from '@waxwing/service/lifecycle';
import type { Sodium } from '@waxwing/sodium';
import { currentSigningKey, type KeyRing, openingKeys, type SigningKey } from '../ring/key-ring.js';
import type { RotationPolicy } from '../ring/rotation-policy.js';

export interface PublishContext {
  readonly sodium: Pick<Sodium, 'signDetached'>;
  readonly policy: RotationPolicy;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Signs a new key list if the published list does not match the ring, or if half of the list's validity has passed.
 * Otherwise returns the same ring object.
 */
export function publishKeyList(ring: KeyRing, { sodium, policy, now }: PublishContext): KeyRing {
  const { published } = ring;
  const content = listedContent(ring, now);
  if (published !== undefined && isFresh(published.issuedAt, policy, now)) {
    const { sequence: _, issued_at: __, expires_at: ___, ...listed } = readPublished(published.keyList);
    if (JSON.stringify(listed) === JSON.stringify(content)) return ring;
  }
  const sequence = Math.max((published?.sequence ?? 0) + 1, now);
  const expiresAt = now + policy.listValidMilliseconds;
  const { version, ...rest } = content;
  const document: KeyListDocument = {
    version,
    sequence,
    issued_at: unixSeconds(now),
    expires_at: unixSeconds(expiresAt),
    ...rest,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  const { privateKey, publicKey } = currentSigningKey(ring);
  const signature = encodeBase64(sodium.signDetached(keyListSignedBytes(bytes), privateKey.reveal()));
  const keyList = encodeBase64(bytes);
  return {
    ...ring,
    published: { sequence, issuedAt: now, expiresAt, keyList, signature, signingPublicKey: publicKey },
  };
}

/** Returns a ring for which the next {@link publishKeyList} signs a new list. */
export function withListToRenew(ring: KeyRing): KeyRing {
  const { published } = ring;
  return published === undefined ? ring : { ...ring, published: { ...published, issuedAt: 0 } };
}

/** Returns when to sign the published list again, in Unix milliseconds. */
export function renewalDue(issuedAt: number, policy: RotationPolicy): number {
  return issuedAt + policy.listValidMilliseconds / 2;
}

// A list dated in the future was signed with a wrong clock. Phones reject it, so it does not count as fresh.
function isFresh(issuedAt: number, policy: RotationPolicy, now: number): boolean {
  return issuedAt <= now && now < renewalDue(issuedAt, policy);
}

type ListedContent = Omit<KeyListDocument, 'sequence' | 'issued_at' | 'expires_at'>;

function listedContent(ring: KeyRing, now: number): ListedContent {
  const compromised = ring.bouncerKeys.filter(({ state }) => state === 'compromised');
  return {
    version: 1,
    keys: openingKeys(ring, now).map((key) => ({
      public_key: key.publicKey,
      state: key.state,
      created_at: unixSeconds(key.createdAt),
      accepted_until: key.state === 'primary' ? null : unixSeconds(key.acceptedUntil),
    })),
    revoked: [...compromised.map(({ publicKey }) => publicKey), ...ring.revokedSigningKeys],
    signing_keys: ring.signingKeys.map(({ publicKey, endorsement }) => ({
      public_key: publicKey,
      endorsement: endorsement ?? null,
    })),
    ...(ring.recoveryPublicKey === undefined ? {} : { recovery_public_key: ring.recoveryPublicKey }),
  };
}

function readPublished(keyList: string): KeyListDocument {
  return JSON.parse(Buffer.from(keyList, 'base64').toString('utf8')) as KeyListDocument;
}

/** Replaces the signing key. The previous key endorses the new key, then its private half is destroyed. */
export function rotateSigningKey(ring: KeyRing, next: SigningKey, sodium: Endorser): KeyRing {
  const current = currentSigningKey(ring);
  const endorsement = endorse(next, { ...current, privateKey: current.privateKey.reveal() }, sodium);
  const older = ring.signingKeys.map((key) => ({ ...key, privateKey: undefined }));
  return { ...ring, signingKeys: [...older, { ...next, endorsement }] };
}

export interface Recovery {
  /** The new signing key, without its endorsement. */
  readonly next: SigningKey;
  /** The recovery key's private half, 64 bytes. */
  readonly recoveryPrivateKey: Uint8Array;
}

/**
 * Replaces a stolen signing key. The new key starts a new chain, endorsed by the recovery key; the old signing keys are
 * revoked.
 * @throws CommandError if the private half does not belong to the ring's recovery key.
 */
export function recoverSigningKey(
  ring: KeyRing,
  { next, recoveryPrivateKey }: Recovery,
  sodium: Endorser,
): KeyRing {
  const publicKey = ring.recoveryPublicKey ?? '';
  const stolen = ring.signingKeys.map(({ publicKey }) => publicKey);
  return {
    ...ring,
    signingKeys: [
      { ...next, endorsement: endorse(next, { publicKey, privateKey: recoveryPrivateKey }, sodium) },
    ],
    revokedSigningKeys: [...ring.revokedSigningKeys, ...stolen],
  };
}

type Endorser = Pick<Sodium, 'signDetached' | 'verifyDetached'>;

/**
 * Signs and verifies an endorsement. Without the check, a damaged key could produce an endorsement that phones reject.
 */
function endorse(
  next: SigningKey,
  by: { readonly publicKey: string; readonly privateKey: Uint8Array },
  sodium: Endorser,
): string {
  const message = signingKeyEndorsedBytes(bytesOf(next.publicKey));
  const endorsement = sodium.signDetached(message, by.privateKey);
  if (!sodium.verifyDetached(endorsement, message, bytesOf(by.publicKey))) {
    throw new CommandError(
      `The private key of ${by.publicKey} is damaged, so no phone would trust its signatures: restore it from a copy; nothing was changed.`,
    );
  }
  return encodeBase64(endorsement);
}

function bytesOf(base64: string): Uint8Array {
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
