import { join } from 'node:path';
import { ConfigurationError, writePrivateFile } from '@waxwing/service/config';
import { Decrypter, Encrypter } from 'age-encryption';
import { describe, expect, it } from 'vitest';
import { passphraseIdentity, passphraseRecipient } from '#relay/keyring/storage/age-passphrase.js';
import { openKeyRingCipher } from '#relay/keyring/storage/key-ring-cipher.js';
import { freshFolder } from './ring-material.js';
import { bytesOf, refusal, textOf } from './ring-texts.js';

const lowWork = 8;

describe('a passphrase', () => {
  const passphrase = 'a long passphrase, with spaces';

  it('works in both directions with the age library', async () => {
    const encrypter = new Encrypter();
    encrypter.addRecipient(passphraseRecipient(passphrase, lowWork));
    const theirs = new Decrypter();
    theirs.addPassphrase(passphrase);
    expect(await theirs.decrypt(await encrypter.encrypt('ring'), 'text')).toBe('ring');

    const library = new Encrypter();
    library.setPassphrase(passphrase);
    library.setScryptWorkFactor(lowWork);
    const ours = new Decrypter();
    ours.addIdentity(passphraseIdentity(passphrase));
    expect(await ours.decrypt(await library.encrypt('ring'), 'text')).toBe('ring');
  });

  it('does not open a file if it is wrong, or if the file would require minutes of key derivation', async () => {
    const sealed = async (workFactor: number) => {
      const encrypter = new Encrypter();
      encrypter.addRecipient(passphraseRecipient(passphrase, workFactor));
      return encrypter.encrypt('ring');
    };
    const wrong = new Decrypter();
    wrong.addIdentity(passphraseIdentity('another'));
    await expect(wrong.decrypt(await sealed(lowWork))).rejects.toThrow();
    const header = Buffer.from(await sealed(lowWork))
      .toString('latin1')
      .replace(/ 8\n/, ' 21\n');
    const right = new Decrypter();
    right.addIdentity(passphraseIdentity(passphrase));
    await expect(right.decrypt(new Uint8Array(Buffer.from(header, 'latin1')))).rejects.toThrow();
  });

  it('is turned into a key without blocking the event loop', async () => {
    const turnsMeanwhile = async () => {
      let turns = 0;
      let done = false;
      const turn = () => {
        turns += 1;
        if (!done) setImmediate(turn);
      };
      turn();
      await passphraseRecipient(passphrase, 15).wrapFileKey(new Uint8Array(16));
      done = true;
      return turns;
    };
    // On a busy machine, the work may occasionally finish within a few ticks, so the test retries.
    await expect.poll(turnsMeanwhile).toBeGreaterThan(20);
  });

  it('is read from a private file: the first line encrypts, and all lines decrypt', async () => {
    const folder = freshFolder();
    const path = join(folder, 'passphrase');
    await expect(openKeyRingCipher({ kind: 'passphrase', path }, lowWork)).rejects.toThrow(
      ConfigurationError,
    );
    await writePrivateFile(path, `${passphrase}\n`);
    const old = await (await openKeyRingCipher({ kind: 'passphrase', path }, lowWork)).encrypt(
      bytesOf('ring'),
    );
    await writePrivateFile(path, `a new one that is long\n${passphrase}\n`);
    const both = await openKeyRingCipher({ kind: 'passphrase', path }, lowWork);
    expect(textOf(await both.decrypt(old))).toBe('ring');
    const renewed = await both.encrypt(bytesOf('ring'));
    await writePrivateFile(path, 'a new one that is long\n');
    const alone = await openKeyRingCipher({ kind: 'passphrase', path }, lowWork);
    expect(textOf(await alone.decrypt(renewed))).toBe('ring');
    expect(await refusal(alone.decrypt(old))).toContain(path);
  });

  it('is rejected if it is too short, and a truncated ring is reported as damaged', async () => {
    const path = join(freshFolder(), 'passphrase');
    const open = () => openKeyRingCipher({ kind: 'passphrase', path }, lowWork);
    await writePrivateFile(path, 'fifteen letters\n');
    expect(await refusal((await open()).encrypt(bytesOf('ring')))).toMatch(
      /has 15 characters and can be guessed: use at least 16/,
    );
    await writePrivateFile(path, 'sixteen letters!\n');
    const ring = await (await open()).encrypt(bytesOf('ring'));
    for (const cut of ['', ring.slice(0, 60), ring.slice(0, -20)]) {
      expect(await refusal((await open()).decrypt(cut))).toContain(
        'may be damaged, because its end is missing',
      );
    }
  });
});
