import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret } from '@waxwing/service/config';
import { describe, expect, it } from 'vitest';
import { checkKeyPair } from '#relay/keyring/ring/check-key-ring.js';
import type { BouncerPublicKey } from '#relay/keyring/ring/key-ring.js';
import { type KeyRing, primaryKey } from '#relay/keyring/ring/key-ring.js';
import {
  applySchedule,
  concludeTokenMove,
  importKeys,
  promote,
  retire,
  revoke,
  rotate,
} from '#relay/keyring/ring/key-ring-transitions.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { auditFile } from '#relay/keyring/storage/audit-log.js';
import { keyTerminal } from './key-terminal.js';
import { freshFolder, policy, ringOnDisk, sodium, startedAt } from './ring-material.js';

const context = { now: startedAt, policy, makeKeyPair: () => sodium.generateKeyPair() };

/** A ring with a retired and a compromised key, and the names of both keys. */
function ringWithEnds(): { ring: KeyRing; retired: string; compromised: string } {
  const first = newKeyRing(sodium, startedAt);
  const retired = primaryKey(first).publicKey;
  const second = rotate(first, context);
  const compromised = primaryKey(second).publicKey;
  return {
    ring: revoke(retire(second, retired, startedAt), compromised, context),
    retired,
    compromised,
  };
}

describe('the schedule', () => {
  it('retires a key after its end date, and removes its private half from the ring', () => {
    const ring = rotate(newKeyRing(sodium, startedAt), context);
    const end = startedAt + policy.acceptForMilliseconds;
    const seldom = { ...context, policy: { ...policy, rotateAfterMilliseconds: end } };
    expect(applySchedule(ring, { ...seldom, now: end - 1 })).toBe(ring);
    const [former] = applySchedule(ring, { ...seldom, now: end }).bouncerKeys;
    expect(former).toMatchObject({ state: 'retired', retiredAt: end });
    expect(former).not.toHaveProperty('privateKey');
  });
});

describe('the end of a token key rotation', () => {
  it('destroys the older token keys, and does not change a ring without older token keys', () => {
    const ring = newKeyRing(sodium, startedAt);
    const [key] = ring.tokenKeys;
    if (key === undefined) throw new Error('a new ring has no token key');
    const older = { ...key, id: 'older' };
    const done = { ...ring, tokenKeys: [key] };
    expect(concludeTokenMove({ ...ring, tokenKeys: [older, key] }, key.id)).toEqual(done);
    expect(concludeTokenMove(done, key.id)).toBe(done);
    expect(concludeTokenMove(done, 'unknown')).toBe(done);
  });
});

describe('a key that is destroyed', () => {
  it('cannot be retired or revoked twice', () => {
    const { ring, retired, compromised } = ringWithEnds();
    expect(() => retire(ring, retired, startedAt)).toThrow('is already retired');
    expect(() => retire(ring, compromised, startedAt)).toThrow('is already compromised');
    expect(() => revoke(ring, compromised, context)).toThrow('is already compromised');
  });

  it('can be marked as compromised after it was retired, without creating a new primary key', () => {
    const { ring, retired } = ringWithEnds();
    const next = revoke(ring, retired, context);
    expect(next.bouncerKeys.map(({ state }) => state)).toEqual(['compromised', 'compromised', 'primary']);
    expect(primaryKey(next)).toBe(primaryKey(ring));
  });

  it('cannot become primary again, and cannot be imported again', () => {
    const { ring, retired, compromised } = ringWithEnds();
    for (const [name, state] of [
      [retired, 'retired'],
      [compromised, 'compromised'],
    ] as const) {
      expect(() => promote(ring, name, context)).toThrow(`is ${state}`);
      const key = {
        publicKey: name as BouncerPublicKey,
        privateKey: new Secret(new Uint8Array(32)),
        createdAt: undefined,
        acceptedUntil: undefined,
      };
      expect(() => importKeys(ring, [key], context)).toThrow(`is ${state} in this ring and cannot return`);
    }
  });
});

describe('a change that would make the ring invalid', () => {
  it('is not stored', async () => {
    const disk = await ringOnDisk();
    const before = readFileSync(disk.path);
    const spoil = (ring: KeyRing) => ({ ...ring, bouncerKeys: [...ring.bouncerKeys, ...ring.bouncerKeys] });
    const change = { actor: 'test', action: 'spoil' };
    await expect(disk.keeper.change(spoil, change)).rejects.toThrow(
      'The change would make the key ring invalid',
    );
    expect(readFileSync(disk.path)).toEqual(before);
  });
});

describe('a public key', () => {
  it('is rejected if it has low order, because anyone could decrypt its boxes', () => {
    const publicKey = Buffer.from(new Uint8Array(32).fill(1, 0, 1)).toString('base64');
    expect(checkKeyPair({ publicKey, privateKey: new Uint8Array(32) }, sodium)).toContain(
      'is not a usable X25519 public key',
    );
  });
});

describe('keys init', () => {
  it('never overwrites an identity, a recovery key, or any other file', async () => {
    const terminal = keyTerminal();
    const [identity, recovery] = [join(terminal.folder, 'identity'), join(terminal.folder, 'recovery')];
    writeFileSync(recovery, 'precious', { mode: 0o600 });
    expect((await terminal.run('init', '--recovery-key', recovery)).error).toContain('already exists');
    expect(readFileSync(recovery, 'utf8')).toBe('precious');
    const made = readFileSync(identity, 'utf8');
    await terminal.json('init');
    expect(readFileSync(identity, 'utf8')).toBe(made);
  });
});

describe('the audit log', () => {
  it('creates a missing folder with mode 0700', async () => {
    const folder = join(freshFolder(), 'new');
    const entry = { at: startedAt, actor: 'a', action: 'b', phase: 'done', changes: [] } as const;
    await auditFile(join(folder, 'audit.jsonl')).append(entry);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
