import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Secret, writePrivateFile } from '@waxwing/service/config';
import { armor, Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { describe, expect, it } from 'vitest';
import { exampleKeys } from '#relay/keyring/ring/example-keys.js';
import { type KeyRing, keyId, primaryKey } from '#relay/keyring/ring/key-ring.js';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { openKeyRingCipher } from '#relay/keyring/storage/key-ring-cipher.js';
import { encodeKeyRing } from '#relay/keyring/storage/key-ring-document.js';
import {
  freshFolder,
  privateTexts,
  type RingOnDisk,
  ringOnDisk,
  sodium,
  startedAt,
} from './ring-material.js';
import { bytesOf, refusal, textOf } from './ring-texts.js';

/** Replaces the ring with the given text, correctly encrypted. */
async function store(disk: RingOnDisk, text: string | Uint8Array): Promise<void> {
  const cipher = await openKeyRingCipher({ kind: 'identity', path: disk.identityPath });
  const document = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  await writePrivateFile(disk.path, await cipher.encrypt(document));
}

describe('the ring on the disk', () => {
  it('is an age file of mode 0600 without plaintext keys, and reads back unchanged', async () => {
    const ring = newKeyRing(sodium, startedAt);
    const disk = await ringOnDisk(ring);
    const text = readFileSync(disk.path, 'utf8');
    expect(text).toMatch(/^-----BEGIN AGE ENCRYPTED FILE-----\n/);
    expect(statSync(disk.path).mode & 0o777).toBe(0o600);
    const everything = readdirSync(disk.folder)
      .map((name) => readFileSync(join(disk.folder, name), 'latin1'))
      .join('\n');
    for (const secret of privateTexts(ring)) expect(everything.includes(secret)).toBe(false);
    const read = await disk.keeper.read();
    expect(privateTexts(read.ring)).toEqual(privateTexts(ring));
  });

  it('opens with the age library alone, given the identity', async () => {
    const ring = newKeyRing(sodium, startedAt);
    const disk = await ringOnDisk(ring);
    const decrypter = new Decrypter();
    decrypter.addIdentity(readFileSync(disk.identityPath, 'utf8').trim());
    const text = await decrypter.decrypt(armor.decode(readFileSync(disk.path, 'utf8')), 'text');
    expect(JSON.parse(text).bouncer_keys[0].public_key).toBe(primaryKey(ring).publicKey);
  });

  it.each([0o644, 0o640, 0o604, 0o620])('is refused with mode %o', async (mode) => {
    const disk = await ringOnDisk();
    chmodSync(disk.path, mode);
    expect(await refusal(disk.keeper.read())).toContain(`run chmod 600 ${disk.path}`);
  });

  // A root-owned identity (tests may run as root) may also be readable by its group, as mounted secrets are.
  it.each([0o644, 0o660, 0o604, 0o620])('is refused when its identity has mode %o', async (mode) => {
    const disk = await ringOnDisk();
    chmodSync(disk.identityPath, mode);
    expect(await refusal(disk.keeper.read())).toContain(`run chmod 600 ${disk.identityPath}`);
  });

  it.each<[string, (text: string) => string | Buffer]>([
    ['a byte-order mark', (text) => `\ufeff${text}`],
    ['lines of Windows', (text) => text.replaceAll('\n', '\r\n')],
    ['lines of an old Mac', (text) => text.replaceAll('\n', '\r')],
    ["PowerShell's UTF-16", (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['blanks around it', (text) => text.replace(/^(?=AGE)/m, '  ').replace(/\n$/, ' \n')],
    ['no last line break', (text) => text.trimEnd()],
  ])('opens when the identity has %s', async (_form, change) => {
    const disk = await ringOnDisk();
    writeFileSync(disk.identityPath, change(readFileSync(disk.identityPath, 'utf8')));
    expect((await disk.keeper.read()).ring.bouncerKeys).toHaveLength(1);
  });

  it('opens when the identity is readable only by its owner, as systemd provides a credential', async () => {
    const disk = await ringOnDisk();
    chmodSync(disk.identityPath, 0o400);
    expect((await disk.keeper.read()).ring.bouncerKeys).toHaveLength(1);
  });

  it('is refused, with the remedy, if it is missing, truncated, changed, or sealed for another identity', async () => {
    const disk = await ringOnDisk();
    const good = readFileSync(disk.path, 'utf8');
    const other = await ringOnDisk();
    const bad = [
      good.slice(0, good.length / 2),
      good.replace(/[a-z]/, 'A'),
      readFileSync(other.path, 'utf8'),
      '',
    ];
    for (const text of bad) {
      writeFileSync(disk.path, text);
      expect(await refusal(disk.keeper.read())).toContain('restore the ring from a backup');
    }
    const nowhere = await ringOnDisk();
    writeFileSync(nowhere.path, '');
    const { unlinkSync } = await import('node:fs');
    unlinkSync(nowhere.path);
    expect(await refusal(nowhere.keeper.read())).toContain('create one with waxwing-relay keys init');
  });

  it('never starts with a plaintext ring', async () => {
    const ring = newKeyRing(sodium, startedAt);
    const disk = await ringOnDisk(ring);
    await writePrivateFile(disk.path, encodeKeyRing(ring));
    expect(await refusal(disk.keeper.read())).toContain('import these keys with waxwing-relay keys import');
  });
});

describe('an invalid ring prevents the start', () => {
  const exampleFile = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../keys.example'), 'utf8'));
  const unsound: [string, (ring: KeyRing) => KeyRing, RegExp][] = [
    ['empty', (ring) => ({ ...ring, bouncerKeys: [] }), /is empty: create one/],
    [
      'with two primaries',
      (ring) => ({ ...ring, bouncerKeys: [...ring.bouncerKeys, ...newKeyRing(sodium, 1).bouncerKeys] }),
      /has 2 primary keys where exactly one is needed/,
    ],
    [
      'without a primary',
      (ring) => ({
        ...ring,
        bouncerKeys: ring.bouncerKeys.map(({ id, publicKey, createdAt }) => ({
          id,
          publicKey,
          createdAt,
          state: 'retired' as const,
          retiredAt: 1,
        })),
      }),
      /has no primary key/,
    ],
    [
      'with a key twice',
      (ring) => ({
        ...ring,
        bouncerKeys: [
          ...ring.bouncerKeys,
          { ...primaryKey(ring), state: 'compromised' as const, revokedAt: 1 },
        ],
      }),
      /twice/,
    ],
    [
      'with a public half of another private half',
      (ring) => ({
        ...ring,
        bouncerKeys: [{ ...primaryKey(ring), privateKey: primaryKey(newKeyRing(sodium, 1)).privateKey }],
      }),
      /does not belong to its private key/,
    ],
    [
      'with an example key',
      (ring) => {
        const { public_key: publicKey, private_key: privateKey } = exampleFile.keys[2];
        const bytes = new Uint8Array(Buffer.from(publicKey, 'base64'));
        const example = {
          id: keyId(bytes),
          publicKey,
          privateKey: new Secret(new Uint8Array(Buffer.from(privateKey, 'base64'))),
        };
        return { ...ring, bouncerKeys: [{ ...primaryKey(ring), ...example }] };
      },
      /is from keys.example, so its private half is public/,
    ],
    ['without a signing key', (ring) => ({ ...ring, signingKeys: [] }), /no key that signs/],
    [
      'with a signing key of another private half',
      (ring) => {
        const [other] = newKeyRing(sodium, 1).signingKeys;
        return {
          ...ring,
          signingKeys: ring.signingKeys.map((key) => ({ ...key, privateKey: other?.privateKey })),
        };
      },
      /signing key .* does not belong/,
    ],
    ['without a token key', (ring) => ({ ...ring, tokenKeys: [] }), /no token key/],
  ];

  it.each(unsound)('%s', async (_name, spoil, sentence) => {
    const disk = await ringOnDisk();
    await store(disk, encodeKeyRing(spoil(newKeyRing(sodium, startedAt))));
    const said = await refusal(disk.keeper.read());
    expect(said).toMatch(sentence);
    expect(said).toContain(disk.path);
  });

  it.each([
    ['no JSON', 'not JSON {'],
    ['another version', '{"version":2}'],
    ['an array', '[]'],
  ])('%s, without quoting it in the message', async (_name, text) => {
    const disk = await ringOnDisk();
    await store(disk, text);
    const said = await refusal(disk.keeper.read());
    expect(said).toContain('is invalid');
    expect(said).not.toContain('not JSON {');
  });

  it('the relay recognizes all keys of keys.example as examples', () => {
    expect(exampleFile.keys.map((key: { public_key: string }) => key.public_key).sort()).toEqual(
      [...exampleKeys].sort(),
    );
  });
});

describe('an identity file', () => {
  it('may have comments and several identities, of which the first seals', async () => {
    const folder = freshFolder();
    const path = join(folder, 'identity');
    const [first, second] = [await generateX25519Identity(), await generateX25519Identity()];
    await writePrivateFile(path, `# ours\n${first}\n\n${second}\n`);
    const cipher = await openKeyRingCipher({ kind: 'identity', path });
    const byLibrary = new Encrypter();
    byLibrary.addRecipient(await identityToRecipient(second));
    expect(textOf(await cipher.decrypt(armor.encode(await byLibrary.encrypt('ring'))))).toBe('ring');
    const decrypter = new Decrypter();
    decrypter.addIdentity(first);
    expect(await decrypter.decrypt(armor.decode(await cipher.encrypt(bytesOf('ring'))), 'text')).toBe('ring');
  });

  it.each(['', '# nothing\n', 'AGE-SECRET-KEY-1SHORT\n', 'a passphrase\n'])(
    'is refused as %j',
    async (text) => {
      const path = join(freshFolder(), 'identity');
      await writePrivateFile(path, text);
      expect(await refusal(openKeyRingCipher({ kind: 'identity', path }))).toContain('AGE-SECRET-KEY-1');
    },
  );
});
