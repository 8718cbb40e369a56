import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import {
  type BouncerKey,
  type BouncerPublicKey,
  primaryKey,
  type TokenKey,
} from '#relay/keyring/ring/key-ring.js';
import {
  applySchedule,
  concludeTokenMove,
  type ImportedKey,
  importKeys,
  namedKey,
  promote,
  retire,
  revoke,
  rotate,
} from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing, newTokenKey } from '#relay/keyring/ring/new-key-ring.js';
import { policy, sodium, startedAt } from './ring-material.js';

const at = (now: number) => ({ now, policy, makeKeyPair: () => sodium.generateKeyPair() });
const fresh = () => newKeyRing(sodium, startedAt);
const states = (keys: readonly BouncerKey[]): string[] => keys.map(({ state }) => state);
const publicKeys = (keys: readonly BouncerKey[]): string[] => keys.map(({ publicKey }) => publicKey);

function imported(createdAt?: number, acceptedUntil?: number): ImportedKey {
  const { publicKey, privateKey } = sodium.generateKeyPair();
  const text = Buffer.from(publicKey).toString('base64') as BouncerPublicKey;
  return { publicKey: text, privateKey: new Secret(privateKey), createdAt, acceptedUntil };
}

describe('a primary key', () => {
  it('is replaced exactly when it reaches the maximum age of the policy, and stays accepted', () => {
    const ring = fresh();
    const due = startedAt + policy.rotateAfterMilliseconds;
    expect(applySchedule(ring, at(due - 1))).toBe(ring);
    const former = primaryKey(ring);
    const rotated = applySchedule(ring, at(due));
    const { primarySince: _, ...facts } = former;
    const acceptedUntil = due + policy.acceptForMilliseconds;
    expect(rotated.bouncerKeys).toEqual([
      { ...facts, state: 'accepted', acceptedSince: due, acceptedUntil },
      { ...primaryKey(rotated), createdAt: due, primarySince: due },
    ]);
    expect(primaryKey(rotated).publicKey).not.toBe(former.publicKey);
  });

  it('cannot be retired, and is replaced when it is revoked, unlike an accepted key', () => {
    const ring = rotate(fresh(), at(startedAt));
    const [accepted, primary] = publicKeys(ring.bouncerKeys);
    expect(() => retire(ring, primary ?? '', startedAt)).toThrow('is the primary key: rotate first');
    expect(states(retire(ring, accepted ?? '', startedAt).bouncerKeys)).toEqual(['retired', 'primary']);
    const withoutAccepted = revoke(ring, accepted ?? '', at(startedAt));
    expect(states(withoutAccepted.bouncerKeys)).toEqual(['compromised', 'primary']);
    expect(primaryKey(withoutAccepted).publicKey).toBe(primary);
    const withoutPrimary = revoke(ring, primary ?? '', at(startedAt));
    expect(states(withoutPrimary.bouncerKeys)).toEqual(['accepted', 'compromised', 'primary']);
    expect(withoutPrimary.bouncerKeys[1]).not.toHaveProperty('privateKey');
  });

  it('can be chosen from the accepted keys; the previous primary key stays accepted', () => {
    const ring = rotate(rotate(fresh(), at(startedAt)), at(startedAt));
    const [first, second, third] = publicKeys(ring.bouncerKeys);
    const now = startedAt + 7;
    const promoted = promote(ring, second ?? '', { now, policy });
    expect(publicKeys(promoted.bouncerKeys)).toEqual([first, second, third]);
    expect(states(promoted.bouncerKeys)).toEqual(['accepted', 'primary', 'accepted']);
    expect(promoted.bouncerKeys[0]).toBe(ring.bouncerKeys[0]);
    expect(primaryKey(promoted)).toMatchObject({ publicKey: second, primarySince: now });
    expect(primaryKey(promoted)).not.toHaveProperty('acceptedUntil');
    const acceptedUntil = now + policy.acceptForMilliseconds;
    expect(promoted.bouncerKeys[2]).toMatchObject({ acceptedSince: now, acceptedUntil });
    expect(promote(promoted, second ?? '', { now: now + 1, policy })).toBe(promoted);
  });

  it('can be named by id or public key, like any other key', () => {
    const ring = fresh();
    const key = primaryKey(ring);
    expect([namedKey(ring, key.id), namedKey(ring, key.publicKey)]).toEqual([key, key]);
    expect(() => namedKey(ring, 'another')).toThrow('The key ring has no key "another"');
  });
});

describe('imported keys', () => {
  it('are sorted by age, and accepted until their own end date or that of the policy', () => {
    const ring = fresh();
    const older = imported(startedAt - 2, startedAt + 9);
    const newer = imported(startedAt + 1);
    const undated = imported();
    const now = startedAt + 5;
    const { bouncerKeys } = importKeys(ring, [undated, newer, older], { now, policy });
    const acceptedUntil = now + policy.acceptForMilliseconds;
    expect(bouncerKeys).toMatchObject([
      { publicKey: older.publicKey, createdAt: startedAt - 2, acceptedUntil: startedAt + 9 },
      { ...primaryKey(ring), state: 'primary' },
      { publicKey: newer.publicKey, createdAt: startedAt + 1, acceptedSince: now, acceptedUntil },
      { publicKey: undated.publicKey, createdAt: now, state: 'accepted', acceptedUntil },
    ]);
  });

  it('change nothing if the ring already has them', () => {
    const ring = importKeys(fresh(), [imported()], at(startedAt));
    const { publicKey } = primaryKey(ring);
    const again = { ...imported(1, 2), publicKey };
    expect(importKeys(ring, [again], at(startedAt))).toBe(ring);
    const other = imported(startedAt + 1);
    const { bouncerKeys } = importKeys(ring, [again, other], at(startedAt));
    expect(publicKeys(bouncerKeys)).toEqual([...publicKeys(ring.bouncerKeys), other.publicKey]);
    expect(bouncerKeys).toContain(primaryKey(ring));
  });
});

describe('after all tokens have been re-encrypted', () => {
  const key = newTokenKey(sodium, 0);
  const older = newTokenKey(sodium, 0);
  const newer = newTokenKey(sodium, startedAt);
  const ringWith = (...tokenKeys: TokenKey[]) => ({ ...fresh(), tokenKeys });

  it('older token keys are destroyed, and newer token keys stay', () => {
    const ring = ringWith(older, key, newer);
    expect(concludeTokenMove(ring, key.id)).toEqual({ ...ring, tokenKeys: [key, newer] });
  });

  it('the ring stays unchanged if there is no older token key, or the named key is missing', () => {
    const ring = ringWith(key, older);
    expect(concludeTokenMove(ring, key.id)).toBe(ring);
    expect(concludeTokenMove(ring, newer.id)).toBe(ring);
  });
});
