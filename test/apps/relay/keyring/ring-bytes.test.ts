import { randomBytes } from 'node:crypto';
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newKeyRing } from '#relay/keyring/ring/new-key-ring.js';
import { decryptAgeFile, encryptAgeFile } from '#relay/keyring/storage/age-file.js';
import { decodeKeyRing, encodeKeyRing } from '#relay/keyring/storage/key-ring-document.js';
import { base64Length, readBase64, writeBase64 } from '#relay/keyring/storage/private-base64.js';
import { privateTexts, sodium, startedAt } from './ring-material.js';

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

describe('base64 in byte arrays', () => {
  it('is encoded and decoded like base64 of Node’s Buffer, for every length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        const written = new Uint8Array(base64Length(bytes.length) + 2).fill(7);
        writeBase64(bytes, written, 1);
        expect(Buffer.from(written.subarray(1, -1)).toString('latin1')).toBe(text);
        expect([written[0], written.at(-1)]).toEqual([7, 7]);
        expect(readBase64(bytesOf(text))).toEqual(bytes);
      }),
    );
  });

  it.each(['A', 'AA', 'AAA', 'AB==', 'AAB=', 'AA=A', '====', 'A===', 'AAA*', 'AA==AA==', 'AAAA=', 'A A='])(
    'rejects non-canonical input such as %s',
    (text) => expect(readBase64(bytesOf(text))).toBeUndefined(),
  );
});

describe('an age file', () => {
  const chunk = 64 * 1024;

  it.each([0, 1, 5000, chunk - 1, chunk, chunk + 1, 2 * chunk, 3 * chunk + 17])(
    'of %i bytes can be exchanged with the age library in both directions',
    async (length) => {
      const identity = await generateX25519Identity();
      const recipient = await identityToRecipient(identity);
      const plaintext = new Uint8Array(randomBytes(length));
      const decrypter = new Decrypter();
      decrypter.addIdentity(identity);
      expect(await decrypter.decrypt(await encryptAgeFile(plaintext, recipient))).toEqual(plaintext);
      const encrypter = new Encrypter();
      encrypter.addRecipient(recipient);
      expect(await decryptAgeFile(await encrypter.encrypt(plaintext), [identity])).toEqual(plaintext);
    },
  );

  it('does not open if it was modified, truncated or extended', async () => {
    const identity = await generateX25519Identity();
    const file = await encryptAgeFile(new Uint8Array(2 * chunk), await identityToRecipient(identity));
    const headerLength = file.length - 2 * chunk - 2 * 16 - 16;
    const open = (bytes: Uint8Array) => decryptAgeFile(bytes, [identity]);
    for (const at of [0, 40, headerLength - 2, headerLength, headerLength + 16, file.length - 1]) {
      const changed = Uint8Array.from(file);
      changed[at] = (changed[at] ?? 0) ^ 1;
      await expect(open(changed), `byte ${at}`).rejects.toThrow();
    }
    for (const length of [
      0,
      10,
      headerLength,
      headerLength + 5,
      headerLength + 16,
      file.length - 1,
      file.length - chunk - 16,
    ]) {
      await expect(open(file.subarray(0, length)), `${length} bytes`).rejects.toThrow();
    }
    await expect(open(Buffer.concat([file, new Uint8Array(16)]))).rejects.toThrow();
    const other = await generateX25519Identity();
    await expect(decryptAgeFile(file, [other])).rejects.toThrow('no identity matched');
  });

  it('is encrypted with a new key each time, and encryption does not change the plaintext', async () => {
    const recipient = await identityToRecipient(await generateX25519Identity());
    const plaintext = bytesOf('ring');
    const [one, two] = [
      await encryptAgeFile(plaintext, recipient),
      await encryptAgeFile(plaintext, recipient),
    ];
    expect(one.subarray(-20)).not.toEqual(two.subarray(-20));
    expect(plaintext).toEqual(bytesOf('ring'));
  });
});

describe('the document of a ring', () => {
  it('is wiped after all of its keys are decoded', () => {
    const ring = newKeyRing(sodium, startedAt);
    const document = encodeKeyRing(ring);
    const [primary] = ring.bouncerKeys;
    expect(JSON.parse(Buffer.from(document).toString()).bouncer_keys[0].private_key).toBe(
      primary?.state === 'primary' ? Buffer.from(primary.privateKey.reveal()).toString('base64') : '',
    );
    expect(privateTexts(decodeKeyRing(document))).toEqual(privateTexts(ring));
    const left = Buffer.from(document).toString('latin1');
    for (const text of privateTexts(ring)) expect(left.includes(text)).toBe(false);
  });

  it('may have any layout, for example after a manual restore', () => {
    const ring = newKeyRing(sodium, startedAt);
    const laidOut = JSON.stringify(JSON.parse(Buffer.from(encodeKeyRing(ring)).toString()), undefined, 2);
    expect(privateTexts(decodeKeyRing(bytesOf(laidOut)))).toEqual(privateTexts(ring));
  });

  it.each([
    ['too short', (key: string) => key.slice(4)],
    ['too long', (key: string) => `AAAA${key}`],
    ['not base64', (key: string) => `*${key.slice(1)}`],
    ['empty', () => ''],
    ['a placeholder for another key', () => '#1:32#######################################'],
  ])('is rejected without quoting if a private key is %s', (_name, spoil) => {
    const json = JSON.parse(Buffer.from(encodeKeyRing(newKeyRing(sodium, startedAt))).toString());
    const [key] = json.bouncer_keys;
    key.private_key = spoil(key.private_key);
    expect(() => decodeKeyRing(bytesOf(JSON.stringify(json)))).toThrow(
      'bouncer_keys.0.private_key: must be 32 bytes in base64',
    );
  });

  it('is rejected if it ends within a string', () => {
    for (const cut of ['{"private_key":"AAAA', '{"private_key', '{"a":"\\']) {
      expect(() => decodeKeyRing(bytesOf(cut))).toThrow();
    }
  });

  it('is rejected if the name of a private key is escaped', () => {
    const text = Buffer.from(encodeKeyRing(newKeyRing(sodium, startedAt))).toString();
    const hidden = (value: string) => text.replace(/"private_key":"[^"]*"/, `"private\\u005fkey":"${value}"`);
    expect(() => decodeKeyRing(bytesOf(hidden(`${'A'.repeat(43)}=`)))).toThrow('must be 32 bytes');
    expect(() => decodeKeyRing(bytesOf(hidden('#1:32#######################################')))).toThrow(
      'not in its place',
    );
  });
});
