import { encodeBase64, keyListSignedBytes, signingKeyEndorsedBytes } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import {
  publishKeyList,
  recoverSigningKey,
  renewalDue,
  rotateSigningKey,
  withListToRenew,
} from '#relay/keyring/list/publish-key-list.js';
import {
  currentSigningKey,
  type KeyRing,
  primaryKey,
  type SigningPublicKey,
} from '#relay/keyring/ring/key-ring.js';
import { retire, revoke, rotate } from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing, newSigningKey } from '#relay/keyring/ring/new-key-ring.js';
import { policy, sodium, startedAt } from './ring-material.js';

const at = (now: number) => ({ now, policy, makeKeyPair: () => sodium.generateKeyPair() });
const publish = (ring: KeyRing, now = startedAt): KeyRing => publishKeyList(ring, { sodium, policy, now });
const bytes = (base64: string | null | undefined): Uint8Array =>
  Uint8Array.from(Buffer.from(base64 ?? '', 'base64'));
const seconds = (milliseconds: number): number => Math.floor(milliseconds / 1000);

function listOf({ published }: KeyRing): unknown {
  return JSON.parse(Buffer.from(bytes(published?.keyList)).toString());
}

function isEndorsed(ring: KeyRing, by: string): boolean {
  const { publicKey, endorsement } = currentSigningKey(ring);
  return sodium.verifyDetached(bytes(endorsement), signingKeyEndorsedBytes(bytes(publicKey)), bytes(by));
}

describe('the published key list', () => {
  it('is signed again exactly when half of its validity has passed, or if it is from the future', () => {
    const half = policy.listValidMilliseconds / 2;
    expect(renewalDue(startedAt, policy)).toBe(startedAt + half);
    const ring = publish(newKeyRing(sodium, startedAt));
    expect(ring.published).toMatchObject({
      sequence: startedAt,
      issuedAt: startedAt,
      expiresAt: startedAt + policy.listValidMilliseconds,
    });
    expect(publish(ring)).toBe(ring);
    expect(publish(ring, startedAt + half - 1)).toBe(ring);
    for (const now of [startedAt + half, startedAt + half + 1]) {
      expect(publish(ring, now).published).toMatchObject({ sequence: now, issuedAt: now });
    }
    expect(publish(ring, startedAt - 1).published).toMatchObject({
      sequence: startedAt + 1,
      issuedAt: startedAt - 1,
    });
  });

  it('is signed again with a higher sequence when the ring changes or a renewal is requested', () => {
    const unpublished = newKeyRing(sodium, startedAt);
    expect(withListToRenew(unpublished)).toBe(unpublished);
    const ring = publish(unpublished);
    const renewed = publish(withListToRenew(ring));
    expect(renewed.published).toMatchObject({ sequence: startedAt + 1, issuedAt: startedAt });
    const changed = publish(rotate(renewed, at(startedAt)));
    expect(changed.published).toMatchObject({ sequence: startedAt + 2, issuedAt: startedAt });
  });

  it('contains all fields that phones need, and is signed by the newest signing key', () => {
    const first = newKeyRing(sodium, startedAt);
    const retired = retire(rotate(first, at(startedAt)), primaryKey(first).publicKey, startedAt);
    const compromised = primaryKey(retired);
    const revoked = revoke(retired, compromised.publicKey, at(startedAt));
    const rotated = rotateSigningKey(
      rotate(revoked, at(startedAt)),
      newSigningKey(sodium, startedAt),
      sodium,
    );
    const revokedSigningKeys = ['of a thief' as SigningPublicKey];
    const ring = publish({
      ...rotated,
      revokedSigningKeys,
      recoveryPublicKey: 'recovery' as KeyRing['recoveryPublicKey'],
    });
    const accepted = primaryKey(revoked);
    const created_at = seconds(startedAt);
    const accepted_until = seconds(startedAt + policy.acceptForMilliseconds);
    const [signing, newest] = ring.signingKeys;
    expect(listOf(ring)).toEqual({
      version: 1,
      sequence: startedAt,
      issued_at: seconds(startedAt),
      expires_at: seconds(startedAt + policy.listValidMilliseconds),
      keys: [
        { public_key: accepted.publicKey, state: 'accepted', created_at, accepted_until },
        { public_key: primaryKey(ring).publicKey, state: 'primary', created_at, accepted_until: null },
      ],
      revoked: [compromised.publicKey, 'of a thief'],
      signing_keys: [
        { public_key: signing?.publicKey, endorsement: null },
        { public_key: newest?.publicKey, endorsement: newest?.endorsement },
      ],
      recovery_public_key: 'recovery',
    });
    expect(listOf(publish(first))).not.toHaveProperty('recovery_public_key');
    const { keyList, signature, signingPublicKey } = ring.published ?? {};
    expect(signingPublicKey).toBe(newest?.publicKey);
    const signed = keyListSignedBytes(bytes(keyList));
    expect(sodium.verifyDetached(bytes(signature), signed, bytes(newest?.publicKey))).toBe(true);
  });
});

describe('a new signing key', () => {
  it('is endorsed by the previous key, whose private half is destroyed', () => {
    const ring = newKeyRing(sodium, startedAt);
    const next = newSigningKey(sodium, startedAt);
    const rotated = rotateSigningKey(ring, next, sodium);
    expect(rotated.signingKeys.map(({ privateKey }) => privateKey)).toEqual([undefined, next.privateKey]);
    expect(isEndorsed(rotated, currentSigningKey(ring).publicKey)).toBe(true);
  });

  it('is endorsed by the recovery key after a theft, and all previous keys are revoked', () => {
    const recovery = sodium.generateSigningKeyPair();
    const recoveryPublicKey = encodeBase64(recovery.publicKey) as KeyRing['recoveryPublicKey'];
    const once = rotateSigningKey(newKeyRing(sodium, startedAt), newSigningKey(sodium, startedAt), sodium);
    const ring = { ...once, recoveryPublicKey, revokedSigningKeys: ['older' as SigningPublicKey] };
    const wish = { next: newSigningKey(sodium, startedAt), recoveryPrivateKey: recovery.privateKey };
    const recovered = recoverSigningKey(ring, wish, sodium);
    expect(recovered.signingKeys.map(({ publicKey }) => publicKey)).toEqual([wish.next.publicKey]);
    expect(isEndorsed(recovered, String(recoveryPublicKey))).toBe(true);
    const stolen = ring.signingKeys.map(({ publicKey }) => publicKey);
    expect(recovered.revokedSigningKeys).toEqual(['older', ...stolen]);
    expect(() => recoverSigningKey({ ...ring, recoveryPublicKey: undefined }, wish, sodium)).toThrow(
      'nothing was changed',
    );
  });
});
