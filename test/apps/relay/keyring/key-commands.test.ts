import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { verifyKeyList } from '@waxwing/protocol';
import { describe, expect, it } from 'vitest';
import type { KeyRing } from '../../../../apps/relay/src/keyring/key-ring.js';
import { readKeyRingEnvironmentAlone } from '../../../../apps/relay/src/keyring/key-ring-configuration.js';
import { createKeyRingKeeper } from '../../../../apps/relay/src/keyring/open-key-ring.js';
import { type KeyTerminal, keyTerminal, withDatabase } from './key-terminal.js';
import { day, privateTexts, sodium } from './ring-material.js';

interface ListedKey {
  readonly id: string;
  readonly public_key: string;
  readonly state: string;
  readonly safe_to_retire_since: string | null;
  readonly last_used_at: string | null;
  readonly registrations_per_day: readonly number[];
}

async function keysOf(terminal: KeyTerminal): Promise<readonly ListedKey[]> {
  return (await terminal.json('list')).keys as readonly ListedKey[];
}

async function ringOf(terminal: KeyTerminal): Promise<KeyRing> {
  const configuration = readKeyRingEnvironmentAlone(terminal.environment);
  const database = { db: {}, write: () => Promise.reject(new Error('no database is needed here')) };
  const keeper = createKeyRingKeeper(configuration, { sodium, clock: () => terminal.now, database });
  return (await keeper.read()).ring;
}

async function terminalWithRing(): Promise<KeyTerminal> {
  const terminal = keyTerminal();
  expect((await terminal.run('init')).error).toBeUndefined();
  return terminal;
}

/** Has registrations opened with a key, as the relay counts them. */
async function use(terminal: KeyTerminal, publicKey: string, registrations: number): Promise<void> {
  await withDatabase(terminal, (database) =>
    database.write(async ({ db }) => {
      await db
        .insertInto('bouncer_key_uses')
        .values({
          ...{ public_key: publicKey, day: Math.floor(terminal.now / day), slot: 0 },
          ...{ registrations, last_used_at: terminal.now },
        })
        .execute();
    }),
  );
}

describe('keys init', () => {
  it('makes identity and ring, private to their owner, and prints what apps are built with', async () => {
    const terminal = keyTerminal();
    const made = await terminal.json('init', '--recovery-key', join(terminal.folder, 'recovery'));
    for (const name of ['identity', 'ring.age', 'recovery', 'ring.age.audit.jsonl']) {
      expect(statSync(join(terminal.folder, name)).mode & 0o777).toBe(0o600);
    }
    const exported = await terminal.json('export-public');
    expect(made).toMatchObject(exported);
    expect(exported.recovery_public_key).toMatch(/^[A-Za-z0-9+/]{43}=$/);
  });

  it('never touches a ring that is there', async () => {
    const terminal = await terminalWithRing();
    const before = readFileSync(join(terminal.folder, 'ring.age'));
    expect((await terminal.run('init')).error).toContain('already: nothing was changed');
    expect(readFileSync(join(terminal.folder, 'ring.age'))).toEqual(before);
  });

  it('wants exactly one of identity and passphrase', async () => {
    const terminal = keyTerminal();
    terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE = '/nowhere';
    expect((await terminal.run('init')).error).toContain('Set exactly one of RELAY_KEY_RING_IDENTITY_FILE');
    delete terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE;
    delete terminal.environment.RELAY_KEY_RING_IDENTITY_FILE;
    expect((await terminal.run('init')).error).toContain('Set exactly one of');
  });
});

describe('keys rotate', () => {
  it('makes a new primary and keeps accepting the old one; with --dry-run it only says so', async () => {
    const terminal = await terminalWithRing();
    const dry = await terminal.json('rotate', '--dry-run');
    expect(dry).toMatchObject({ changed: false, dry_run: true });
    expect(await keysOf(terminal)).toHaveLength(1);
    expect(await terminal.json('rotate')).toMatchObject({ changed: true, dry_run: false });
    expect((await keysOf(terminal)).map(({ state }) => state)).toEqual(['accepted', 'primary']);
  });
});

describe('keys retire', () => {
  it('refuses while phones use the key, says how many and when last, and obeys --force', async () => {
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

  it('obeys when the key is unused for as long as the policy says, and list says since when that is', async () => {
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

  it('asks, and without an answer and without --yes changes nothing', async () => {
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

  it('refuses the primary key and unknown names, before it asks', async () => {
    const terminal = await terminalWithRing();
    const [primary] = await keysOf(terminal);
    expect((await terminal.run('retire', primary?.id ?? '')).error).toContain(
      'is the primary key: rotate first',
    );
    expect((await terminal.run('retire', 'nobody')).error).toContain('has no key "nobody"');
    expect(terminal.asked).toEqual([]);
  });

  it('leaves the private half in no file', async () => {
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
  it('refuses the key at once, lists it as revoked, and replaces it if it was the primary', async () => {
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

describe('keys import and export-stock', () => {
  const exampleFile = join(import.meta.dirname, '../../../../keys.example');

  function plainFile(terminal: KeyTerminal, count: number): { file: string; pairs: Record<string, string> } {
    const pairs = Array.from({ length: count }, () => {
      const { publicKey, privateKey } = sodium.generateKeyPair();
      return [Buffer.from(publicKey).toString('base64'), Buffer.from(privateKey).toString('base64')];
    });
    const file = join(terminal.folder, 'stock.json');
    writeFileSync(file, JSON.stringify(Object.fromEntries(pairs)), { mode: 0o600 });
    return { file, pairs: Object.fromEntries(pairs) as Record<string, string> };
  }

  it('takes over the map of a stock relay and gives it back', async () => {
    const terminal = await terminalWithRing();
    const { file, pairs } = plainFile(terminal, 3);
    expect(await terminal.json('import', file)).toMatchObject({ changed: true });
    expect((await keysOf(terminal)).filter(({ state }) => state === 'accepted')).toHaveLength(3);
    const to = join(terminal.folder, 'out.json');
    expect((await terminal.run('export-stock', '--to', to)).error).toContain('add --yes');
    await terminal.json('export-stock', '--to', to, '--yes');
    expect(statSync(to).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(to, 'utf8'))).toMatchObject(pairs);
    expect((await terminal.run('export-stock', '--to', to, '--yes')).error).toContain('exists already');
  });

  it('makes a ring of a file where there is none, if it can tell which key is primary', async () => {
    const terminal = keyTerminal();
    const { file, pairs } = plainFile(terminal, 2);
    const [, newest = ''] = Object.keys(pairs);
    expect((await terminal.run('import', file)).error).toContain('--primary <public-key>');
    expect((await terminal.run('import', file, '--primary', newest)).error).toBeUndefined();
    const primary = (await keysOf(terminal)).find(({ state }) => state === 'primary');
    expect(primary?.public_key).toBe(newest);
  });

  it('reads the form of keys.example, states and dates included, when the keys are your own', async () => {
    const terminal = keyTerminal();
    const example = JSON.parse(readFileSync(exampleFile, 'utf8'));
    for (const key of example.keys) {
      const pair = sodium.generateKeyPair();
      key.public_key = Buffer.from(pair.publicKey).toString('base64');
      key.private_key = Buffer.from(pair.privateKey).toString('base64');
    }
    const file = join(terminal.folder, 'plain.json');
    writeFileSync(file, JSON.stringify(example), { mode: 0o600 });
    expect((await terminal.run('import', file)).error).toBeUndefined();
    expect(await keysOf(terminal)).toMatchObject(
      example.keys.map((key: { public_key: string; state: string }) => ({
        public_key: key.public_key,
        state: key.state,
      })),
    );
    expect((await keysOf(terminal))[0]).toMatchObject({
      created_at: '2025-06-01T00:00:00.000Z',
      accepted_until: '2026-10-06T00:00:00.000Z',
    });
  });

  it('refuses the example keys themselves', async () => {
    const terminal = keyTerminal();
    expect((await terminal.run('import', exampleFile)).error).toContain(
      'is from keys.example, so everybody has its private half',
    );
    expect((await terminal.run('list')).error).toContain('There is no key ring');
  });

  it.each([
    ['rubbish', 'The file is not JSON'],
    ['[]', 'not a JSON object'],
    ['{}', 'The file holds no key'],
    ['{"keys":[],"version":1}', 'at least one key'],
    [`{"${'A'.repeat(43)}=":"secret-looking"}`, 'must be 32 bytes'],
  ])('refuses %s without quoting it', async (text, sentence) => {
    const terminal = await terminalWithRing();
    const file = join(terminal.folder, 'plain.json');
    writeFileSync(file, text, { mode: 0o600 });
    const { error } = await terminal.run('import', file);
    expect(error).toContain(sentence);
    expect(error).not.toContain('secret-looking');
  });

  it('refuses a pair that does not belong together, and a key that is retired here', async () => {
    const terminal = await terminalWithRing();
    const { file, pairs } = plainFile(terminal, 2);
    const [one = '', two = ''] = Object.keys(pairs);
    writeFileSync(file, JSON.stringify({ [one]: pairs[two] }));
    expect((await terminal.run('import', file)).error).toContain('does not belong to its private key');
    writeFileSync(file, JSON.stringify(pairs));
    await terminal.run('import', file);
    await terminal.run('retire', one, '--yes');
    expect((await terminal.run('import', file)).error).toContain(
      'is retired in this ring and cannot come back',
    );
  });
});

describe('the signing key', () => {
  const trust = (terminal: KeyTerminal) => ({
    verify: (signature: Uint8Array, message: Uint8Array, key: Uint8Array) =>
      sodium.verifyDetached(signature, message, key),
    lastSequence: 0,
    nowSeconds: Math.floor(terminal.now / 1000),
    revokedKeys: new Set<string>(),
  });

  async function answerOf(terminal: KeyTerminal) {
    const { key_list } = await terminal.json('export-public');
    return { result: 'success', ...(key_list as object) } as Parameters<typeof verifyKeyList>[0];
  }

  it('is followed by a phone through any number of rotations', async () => {
    const terminal = await terminalWithRing();
    const pinned = (await terminal.json('export-public')).signing_public_key as string;
    for (let rotation = 0; rotation < 3; rotation += 1) await terminal.run('rotate-signing-key', '--yes');
    const verdict = verifyKeyList(await answerOf(terminal), {
      ...trust(terminal),
      signingPublicKey: pinned,
      recoveryPublicKey: undefined,
    });
    expect(verdict.kind).toBe('verified');
    expect((await ringOf(terminal)).signingKeys.filter(({ privateKey }) => privateKey)).toHaveLength(1);
  });

  it('is replaced after a theft by one that the recovery key endorses, and the stolen one is revoked', async () => {
    const terminal = keyTerminal();
    const recovery = join(terminal.folder, 'recovery');
    const made = await terminal.json('init', '--recovery-key', recovery);
    const stolen = made.signing_public_key as string;
    await terminal.run('rotate-signing-key', '--recovery-key', recovery, '--yes');
    const follow =
      (recoveryPublicKey: string | undefined, signingPublicKey = stolen) =>
      async () =>
        verifyKeyList(await answerOf(terminal), { ...trust(terminal), signingPublicKey, recoveryPublicKey });
    const verdict = await follow(made.recovery_public_key as string)();
    expect(verdict).toMatchObject({ kind: 'verified', list: { revoked: [stolen] } });
    expect(await follow(undefined)()).toEqual({ kind: 'refused', reason: 'unknown-signing-key' });
  });

  it('takes no other file for the recovery key', async () => {
    const terminal = keyTerminal();
    await terminal.run('init', '--recovery-key', join(terminal.folder, 'recovery'));
    const other = keyTerminal();
    await other.run('init', '--recovery-key', join(other.folder, 'recovery'));
    for (const text of [readFileSync(join(other.folder, 'recovery'), 'utf8'), 'rubbish']) {
      const file = join(terminal.folder, 'other');
      writeFileSync(file, text, { mode: 0o600 });
      expect((await terminal.run('rotate-signing-key', '--recovery-key', file, '--yes')).error).toContain(
        'does not hold the recovery key of this ring',
      );
    }
  });
});

describe('keys rewrap', () => {
  it('changes the identity while the old one still opens, and then no more', async () => {
    const terminal = await terminalWithRing();
    const identity = join(terminal.folder, 'identity');
    const old = readFileSync(identity, 'utf8');
    const other = await terminalWithRing();
    const fresh = readFileSync(join(other.folder, 'identity'), 'utf8');
    writeFileSync(identity, fresh + old);
    expect((await terminal.run('rewrap')).error).toContain('add --yes');
    expect((await terminal.run('rewrap', '--yes')).error).toBeUndefined();
    writeFileSync(identity, fresh);
    expect((await terminal.run('verify')).error).toBeUndefined();
    writeFileSync(identity, old);
    expect((await terminal.run('verify')).error).toContain('cannot be decrypted');
  });

  it('moves from an identity to a passphrase and says what to set', async () => {
    const terminal = await terminalWithRing();
    const file = join(terminal.folder, 'passphrase');
    writeFileSync(file, 'long enough to be a passphrase\n', { mode: 0o600 });
    const { printed } = await terminal.run('rewrap', '--to-passphrase-file', file, '--yes');
    expect(printed).toContain(`RELAY_KEY_RING_PASSPHRASE_FILE=${file}`);
    delete terminal.environment.RELAY_KEY_RING_IDENTITY_FILE;
    terminal.environment.RELAY_KEY_RING_PASSPHRASE_FILE = file;
    expect(await terminal.json('verify')).toMatchObject({ sound: true });
  });
});

describe('every command', () => {
  it('answers --json, keeps private halves out of its output and the audit log, and is audited', async () => {
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
