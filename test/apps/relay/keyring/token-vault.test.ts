import { describe, expect, it } from 'vitest';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing, newTokenKey } from '#relay/keyring/ring/new-key-ring.js';
import { KeyRingTokenVault } from '#relay/keyring/tokens/key-ring-token-vault.js';
import * as noble from '../../../support/noble-oracle.js';
import { sodium, startedAt } from './ring-material.js';

const place = 'device 1 7 look-up';
const unreadable = { reason: 'UNREADABLE_TOKEN' };
const token = 'a token, also with ünïcode 🎉';

function vault() {
  const world = { ring: newKeyRing(sodium, startedAt) as KeyRing, now: startedAt };
  return {
    world,
    vault: new KeyRingTokenVault(
      () => world.ring,
      () => world.now,
      sodium,
    ),
  };
}

describe('tokens at rest', () => {
  it('can be decrypted, and are never encrypted to the same ciphertext twice', () => {
    const { vault: here } = vault();
    const [one, two] = [here.seal(token, place), here.seal(token, place)];
    expect(one).not.toBe(two);
    expect([here.open(one, place), here.open(two, place)]).toEqual([token, token]);
    expect(one).not.toContain(Buffer.from(token).toString('base64').slice(0, 16));
  });

  it('are found by a keyed hash whose key is not used for encryption', () => {
    const { world, vault: here } = vault();
    const [key] = world.ring.tokenKeys;
    const expected = noble.keyedHash(Buffer.from(token), key?.lookupKey.reveal() ?? new Uint8Array());
    expect(here.lookups(token)).toEqual([Buffer.from(expected).toString('base64')]);
    expect(key?.lookupKey.reveal()).not.toEqual(key?.encryptionKey.reveal());
  });

  it('do not open after any change, or with another ring', () => {
    const { vault: here } = vault();
    const sealed = here.seal(token, place);
    const bytesOf = (text: string) => Buffer.from(text.slice(11), 'base64');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'x' ? 'y' : 'x') + sealed.slice(index + 1);
      if (index > 10 && bytesOf(changed).equals(bytesOf(sealed))) continue;
      expect(here.open(changed, place), `at ${index}`).toHaveProperty('reason');
    }
    const keyId = sealed.slice(0, 8);
    expect(vault().vault.open(sealed, place)).toEqual({ reason: 'UNKNOWN_TOKEN_KEY', keyId });
    for (const text of [
      '',
      keyId,
      `${keyId}:`,
      `${keyId}:3:`,
      `${keyId}:3:AAAA`,
      `${keyId}:2:`,
      `${keyId}:4:AAAA`,
      `${sealed}x`.slice(1),
    ]) {
      expect(here.open(text, place), text).toEqual(unreadable);
    }
  });

  it('open only in their own row', () => {
    const { vault: here } = vault();
    const sealed = here.seal(token, place);
    for (const other of ['device 2 7 look-up', 'device 1 8 look-up', 'device 1 7 another', '']) {
      expect(here.open(sealed, other), other).toEqual(unreadable);
    }
  });

  it('use a new key only after its start time, and open with both keys', () => {
    const { world, vault: here } = vault();
    const old = here.seal(token, place);
    const [oldLookup] = here.lookups(token);
    const next = newTokenKey(sodium, startedAt + 1000);
    world.ring = { ...world.ring, tokenKeys: [...world.ring.tokenKeys, next] };
    expect(here.seal(token, place).startsWith(old.slice(0, 9))).toBe(true);
    expect(here.lookups(token)[0]).toBe(oldLookup);
    expect(here.lookups(token)).toHaveLength(2);
    world.now += 1000;
    expect(here.seal(token, place).startsWith(`${next.id}:3:`)).toBe(true);
    expect(here.lookups(token)[1]).toBe(oldLookup);
    expect(here.open(old, place)).toBe(token);
    expect(here.keyToMoveTo()).toEqual({ id: next.id, prefix: `${next.id}:3:`, isSettled: false });
    world.now += 60_000;
    expect(here.keyToMoveTo()?.isSettled).toBe(true);
  });
});
