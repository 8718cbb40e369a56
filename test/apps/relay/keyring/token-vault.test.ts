import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { KeyRing } from '../../../../apps/relay/src/keyring/key-ring.js';
import { newKeyRing, newTokenKey } from '../../../../apps/relay/src/keyring/new-key-ring.js';
import { KeyRingTokenVault } from '../../../../apps/relay/src/keyring/token-vault.js';
import { sodium, startedAt } from './ring-material.js';

const token = 'a token, also with ünïcode 🎉';

function vault() {
  const world = { ring: newKeyRing(sodium, startedAt) as KeyRing, now: startedAt };
  return {
    world,
    vault: new KeyRingTokenVault(
      () => world.ring,
      () => world.now,
    ),
  };
}

describe('tokens at rest', () => {
  it('open again, and never look the same twice', () => {
    const { vault: here } = vault();
    const [one, two] = [here.seal(token), here.seal(token)];
    expect(one).not.toBe(two);
    expect([here.open(one), here.open(two)]).toEqual([token, token]);
    expect(one).not.toContain(Buffer.from(token).toString('base64').slice(0, 16));
  });

  it('are found by an HMAC under a key that encrypts nothing', () => {
    const { world, vault: here } = vault();
    const [key] = world.ring.tokenKeys;
    const expected = createHmac('sha256', key?.lookupKey.reveal() ?? '')
      .update(token)
      .digest('base64');
    expect(here.lookups(token)).toEqual([expected]);
    expect(key?.lookupKey.reveal()).not.toEqual(key?.encryptionKey.reveal());
  });

  it('do not open when any character was changed, or under another ring', () => {
    const { vault: here } = vault();
    const sealed = here.seal(token);
    for (let index = 0; index < sealed.length - 1; index += 1) {
      const changed = sealed.slice(0, index) + (sealed[index] === 'x' ? 'y' : 'x') + sealed.slice(index + 1);
      if (Buffer.from(changed.slice(9), 'base64').equals(Buffer.from(sealed.slice(9), 'base64')) && index > 8)
        continue;
      if (index !== 8) expect(() => here.open(changed), `at ${index}`).toThrow();
    }
    expect(() => vault().vault.open(sealed)).toThrow('does not have');
    expect(() => here.open('')).toThrow();
  });

  it('get a new key only from the instant on at which every relay knows it, and open with both', () => {
    const { world, vault: here } = vault();
    const old = here.seal(token);
    const [oldLookup] = here.lookups(token);
    const next = newTokenKey(sodium, startedAt + 1000);
    world.ring = { ...world.ring, tokenKeys: [...world.ring.tokenKeys, next] };
    expect(here.seal(token).startsWith(old.slice(0, 9))).toBe(true);
    expect(here.lookups(token)[0]).toBe(oldLookup);
    expect(here.lookups(token)).toHaveLength(2);
    world.now += 1000;
    expect(here.seal(token).startsWith(`${next.id}:`)).toBe(true);
    expect(here.lookups(token)[1]).toBe(oldLookup);
    expect(here.open(old)).toBe(token);
    expect(here.keyToMoveTo()).toEqual({ id: next.id, prefix: `${next.id}:`, isSettled: false });
    world.now += 60_000;
    expect(here.keyToMoveTo()?.isSettled).toBe(true);
  });
});
