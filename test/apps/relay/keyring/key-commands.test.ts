import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { KeyRingKeeper } from '#relay/keyring/live/key-ring-keeper.js';
import type { KeyRing } from '#relay/keyring/ring/key-ring.js';
import {
  type KeyTerminal,
  keysOf,
  keyTerminal,
  ringOf,
  terminalWithRing,
  withDatabase,
} from './key-terminal.js';
import { day, privateTexts } from './ring-material.js';

/** Counts registrations opened with a key, as the relay does. */
async function use(terminal: KeyTerminal, publicKey: string, registrations: number): Promise<void> {
  await withDatabase(terminal, (database) =>
    database.write(async ({ db }) => {
      await db
        .insertInto('bouncer_key_uses')
        .values({
          public_key: publicKey,
          day: Math.floor(terminal.now / day),
          slot: 0,
          registrations,
          last_used_at: terminal.now,
        })
        .execute();
    }),
  );
}

describe('keys init', () => {
  it('creates the identity and the ring with mode 0600, and prints the public keys for apps', async () => {
    const terminal = keyTerminal();
    const made = await terminal.json('init', '--recovery-key', join(terminal.folder, 'recovery'));
    for (const name of ['identity', 'ring.age', 'recovery', 'ring.age.audit.jsonl']) {
      expect(statSync(join(terminal.folder, name)).mode & 0o777).toBe(0o600);
    }
    const exported = await terminal.json('export-public');
    expect(made).toMatchObject(exported);
    expect(exported.recovery_public_key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });

  it('creates nothing with --dry-run', async () => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    const made = await terminal.json('init', '--dry-run', '--recovery-key', recovery);
    expect(made).toMatchObject({ changed: false, dry_run: true });
    const names = readdirSync(terminal.folder).filter((name) => !name.startsWith('relay.sqlite'));
    expect(names).toEqual([]);
  });

  it('can be repeated after it failed to create a ring, because it leaves no recovery key behind', async () => {
    const terminal = keyTerminal();
    const identity = join(terminal.folder, 'identity');
    writeFileSync(identity, 'not an identity', { mode: 0o600 });
    const typed = ['init', '--recovery-key', join(terminal.folder, 'recovery')];
    expect((await terminal.run(...typed)).error).toContain("does not contain the key ring's identity");
    rmSync(identity);
    expect((await terminal.run(...typed)).error).toBeUndefined();
  });

  it('keeps the recovery key of a stored ring, even if a later step fails', async () => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    const { create } = KeyRingKeeper.prototype;
    const failing = vi.spyOn(KeyRingKeeper.prototype, 'create');
    failing.mockImplementation(async function (this: KeyRingKeeper, ring, actor) {
      await create.call(this, ring, actor);
      throw new Error('The disk is full.');
    });
    const { error } = await terminal.run('init', '--recovery-key', recovery);
    failing.mockRestore();
    expect(error).toContain('The disk is full.');
    // The recovery file contains the 32-byte seed, followed by the public key.
    const kept = Buffer.from(readFileSync(recovery, 'utf8'), 'base64').subarray(32).toString('base64');
    expect((await ringOf(terminal)).recoveryPublicKey).toBe(kept);
  });

  it('never changes an existing ring', async () => {
    const terminal = await terminalWithRing();
    const before = readFileSync(join(terminal.folder, 'ring.age'));
    expect((await terminal.run('init')).error).toContain('nothing was changed');
    expect(readFileSync(join(terminal.folder, 'ring.age'))).toEqual(before);
  });

  it('requires either an identity or a passphrase, not both', async () => {
    const terminal = keyTerminal();
    terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE = '/nowhere';
    expect((await terminal.run('init')).error).toContain('Set exactly one of RELAY_KEY_RING_IDENTITY_FILE');
    delete terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE;
    delete terminal.environment.RELAY_KEY_RING_IDENTITY_FILE;
    expect((await terminal.run('init')).error).toContain('Set exactly one of');
  });
});

describe('keys rotate', () => {
  it('creates a new primary key and keeps accepting the old key; --dry-run only prints the change', async () => {
    const terminal = await terminalWithRing();
    const dry = await terminal.json('rotate', '--dry-run');
    expect(dry).toMatchObject({ changed: false, dry_run: true });
    expect(dry.changes).toContain('a new bouncer key: new -> primary');
    expect(await keysOf(terminal)).toHaveLength(1);
    expect(await terminal.json('rotate')).toMatchObject({ changed: true, dry_run: false });
    expect((await keysOf(terminal)).map(({ state }) => state)).toEqual(['accepted', 'primary']);
    const { keys, ...ring } = await terminal.json('list');
    expect(await terminal.json('list', 'PRIMARY')).toEqual({ ...ring, keys: [(keys as object[])[1]] });
    expect(await terminal.json('list', '--limit', '1')).toEqual({ ...ring, keys: [(keys as object[])[0]] });
  });
});

describe('keys retire', () => {
  it('retires a key that phones still use only with --force, and otherwise reports its recent use', async () => {
    const terminal = await terminalWithRing();
    const [old] = await keysOf(terminal);
    await terminal.run('rotate');
    await use(terminal, old?.public_key ?? '', 12);
    terminal.now += 59 * day;
    const refused = await terminal.run('retire', old?.id ?? '', '--yes');
    expect(refused.error).toContain(
      'opened 12 registrations in the last 60 days, the last at 2026-03-01T00:00:00',
    );
    expect((await keysOf(terminal))[0]?.state).toBe('accepted');
    expect((await terminal.run('retire', old?.id ?? '', '--force', '--yes')).error).toBeUndefined();
    expect((await keysOf(terminal))[0]?.state).toBe('retired');
  });

  it('retires a key after the policy’s unused period; "keys list" shows since when that is safe', async () => {
    const terminal = await terminalWithRing();
    const [old] = await keysOf(terminal);
    await use(terminal, old?.public_key ?? '', 1);
    await terminal.run('rotate');
    terminal.now += 60 * day - 1;
    expect((await keysOf(terminal))[0]?.safe_to_retire_since).toBeNull();
    terminal.now += 1;
    expect((await keysOf(terminal))[0]).toMatchObject({
      safe_to_retire_since: '2026-04-30T00:00:00.000Z',
      last_used_at: '2026-03-01T00:00:00.000Z',
    });
    terminal.now += 1;
    expect((await terminal.run('retire', old?.public_key ?? '', '--yes')).error).toBeUndefined();
  });

  it('asks for consent, and changes nothing without a positive answer or --yes', async () => {
    const terminal = await terminalWithRing();
    const [old] = await keysOf(terminal);
    await terminal.run('rotate');
    expect((await terminal.run('retire', old?.id ?? '')).error).toContain('add --yes');
    terminal.answer = false;
    expect((await terminal.run('retire', old?.id ?? '')).error).toContain('Nothing was changed');
    expect((await keysOf(terminal))[0]?.state).toBe('accepted');
    expect(terminal.asked[1]).toContain('accepted -> retired');
    terminal.answer = true;
    expect((await terminal.run('retire', old?.id ?? '')).error).toBeUndefined();
    expect((await keysOf(terminal))[0]?.state).toBe('retired');
  });

  it('refuses the primary key and unknown names before it asks for consent', async () => {
    const terminal = await terminalWithRing();
    const [primary] = await keysOf(terminal);
    expect((await terminal.run('retire', primary?.id ?? '')).error).toContain(
      'is the primary key: rotate first',
    );
    expect((await terminal.run('retire', 'nobody')).error).toContain('has no key "nobody"');
    expect(terminal.asked).toEqual([]);
  });

  it('removes the private half from all files', async () => {
    const terminal = await terminalWithRing();
    const before = await ringOf(terminal);
    const old = privateTexts({ ...before, signingKeys: [], tokenKeys: [] });
    await terminal.run('rotate');
    await terminal.run('retire', before.bouncerKeys[0]?.id ?? '', '--yes');
    const after = await ringOf(terminal);
    expect(after.bouncerKeys[0]).not.toHaveProperty('privateKey');
    expect(privateTexts(after).filter((text) => old.includes(text))).toEqual([]);
    for (const name of readdirSync(terminal.folder)) {
      const content = readFileSync(join(terminal.folder, name), 'latin1');
      for (const text of old) expect(content.includes(text), name).toBe(false);
    }
    expect(readdirSync(terminal.folder).filter((name) => name.includes('.new'))).toEqual([]);
  });
});

describe('keys revoke', () => {
  it('refuses the key immediately, lists it as revoked, and replaces a primary key', async () => {
    const terminal = await terminalWithRing();
    const [stolen] = await keysOf(terminal);
    expect((await terminal.run('revoke', stolen?.id ?? '', '--yes')).error).toContain('Add --compromised');
    expect((await terminal.run('revoke', stolen?.id ?? '', '--compromised')).error).toContain('add --yes');
    expect((await terminal.run('revoke', stolen?.id ?? '', '--compromised', '--yes')).error).toBeUndefined();
    expect((await keysOf(terminal)).map(({ state }) => state)).toEqual(['compromised', 'primary']);
    const list = JSON.parse(
      Buffer.from((await ringOf(terminal)).published?.keyList ?? '', 'base64').toString('utf8'),
    );
    expect(list.revoked).toEqual([stolen?.public_key]);
    expect(list.keys).toHaveLength(1);
  });
});

describe('every command', () => {
  it('supports --json, and writes to the audit log but never a private half', async () => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    const rings: KeyRing[] = [];
    const identity = () => readFileSync(join(terminal.folder, 'identity'), 'utf8').split('\n')[1] ?? '';
    await terminal.json('init', '--recovery-key', recovery);
    rings.push(await ringOf(terminal));
    const old = rings[0]?.bouncerKeys[0]?.id ?? '';
    const commands = [
      ['rotate'],
      ['list'],
      ['retire', old, '--yes'],
      ['rotate'],
      ['rotate-token-key'],
      ['rotate-signing-key', '--yes'],
      ['rotate-signing-key', '--recovery-key', recovery, '--yes'],
      ['export-public'],
      ['verify'],
      ['export-stock', '--to', join(terminal.folder, 'stock.json'), '--yes'],
      ['import', join(terminal.folder, 'stock.json')],
      ['revoke', 'primary', '--compromised', '--yes'],
      ['rewrap', '--yes'],
    ];
    for (const command of commands) {
      const primary = (await ringOf(terminal)).bouncerKeys.find(({ state }) => state === 'primary')?.id ?? '';
      const argv = command.map((word) => (word === 'primary' ? primary : word));
      expect(await terminal.json(...argv)).toBeTypeOf('object');
      await terminal.run(...argv);
      rings.push(await ringOf(terminal));
    }
    const audit = readFileSync(join(terminal.folder, 'ring.age.audit.jsonl'), 'utf8');
    const secrets = [...rings.flatMap(privateTexts), identity(), readFileSync(recovery, 'utf8').trim()];
    const written = [...terminal.transcript, audit].join('\n');
    for (const secret of secrets) expect(written.includes(secret)).toBe(false);
    const actions = new Set(
      audit
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).action),
    );
    const changing = ['init', 'rotate', 'retire', 'rotate-token-key', 'rotate-signing-key', 'export-stock'];
    for (const action of [...changing, 'revoke --compromised', 'rewrap']) expect(actions).toContain(action);
    expect(audit).toContain(`bouncer key ${old}: accepted -> retired`);
  });
});
