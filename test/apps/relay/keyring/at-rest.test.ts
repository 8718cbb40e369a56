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

/** Replaces the stored ring with `text`, correctly encrypted. */
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

  it('can be decrypted with only the age library and the identity', async () => {
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
    ['Windows line breaks', (text) => text.replaceAll('\n', '\r\n')],
    ['classic Mac line breaks', (text) => text.replaceAll('\n', '\r')],
    ["PowerShell's UTF-16", (text) => Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['surrounding spaces', (text) => text.replace(/^(?=AGE)/m, '  ').replace(/\n$/, ' \n')],
    ['no final line break', (text) => text.trimEnd()],
  ])('opens when the identity has %s', async (_form, change) => {
    const disk = await ringOnDisk();
    writeFileSync(disk.identityPath, change(readFileSync(disk.identityPath, 'utf8')));
    expect((await disk.keeper.read()).ring.bouncerKeys).toHaveLength(1);
  });

  it('opens when only the owner can read the identity, as with systemd credentials', async () => {
    const disk = await ringOnDisk();
    chmodSync(disk.identityPath, 0o400);
    expect((await disk.keeper.read()).ring.bouncerKeys).toHaveLength(1);
  });

  it('is rejected with a remedy if it is missing, truncated, modified, or encrypted for another identity', async () => {
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

  it('is rejected if it is not encrypted', async () => {
    const ring = newKeyRing(sodium, startedAt);
    const disk = await ringOnDisk(ring);
    await writePrivateFile(disk.path, encodeKeyRing(ring));
    expect(await refusal(disk.keeper.read())).toContain('import these keys with waxwing-relay keys import');
  });
});

describe('the relay does not start with a ring', () => {
  const exampleFile = JSON.parse(readFileSync(join(import.meta.dirname, '../../../../keys.example'), 'utf8'));
  const unsound: [string, (ring: KeyRing) => KeyRing, RegExp][] = [
    ['that is empty', (ring) => ({ ...ring, bouncerKeys: [] }), /is empty: create one/],
    [
      'with two primary keys',
      (ring) => ({ ...ring, bouncerKeys: [...ring.bouncerKeys, ...newKeyRing(sodium, 1).bouncerKeys] }),
      /has 2 primary keys where exactly one is needed/,
    ],
    [
      'without a primary key',
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
      'that contains a key twice',
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
      'with a bouncer key whose halves do not match',
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
      'with a signing key whose halves do not match',
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
    ['that is not JSON', 'not JSON {'],
    ['of another version', '{"version":2}'],
    ['that is an array', '[]'],
  ])('%s, and the message does not quote it', async (_name, text) => {
    const disk = await ringOnDisk();
    await store(disk, text);
    const said = await refusal(disk.keeper.read());
    expect(said).toContain('is invalid');
    expect(said).not.toContain('not JSON {');
  });

  it('with an example key, for every key in keys.example', () => {
    expect(exampleFile.keys.map((key: { public_key: string }) => key.public_key).sort()).toEqual(
      [...exampleKeys].sort(),
    );
  });
});

describe('an identity file', () => {
  it('may contain comments and several identities, and encryption uses the first', async () => {
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
    'is rejected if it contains %j',
    async (text) => {
      const path = join(freshFolder(), 'identity');
      await writePrivateFile(path, text);
      expect(await refusal(openKeyRingCipher({ kind: 'identity', path }))).toContain('AGE-SECRET-KEY-1');
    },
  );
});
