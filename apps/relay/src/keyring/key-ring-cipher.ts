import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service';
import { armor, Decrypter, Encrypter, identityToRecipient } from 'age-encryption';
import { defaultScryptWorkFactor, passphraseIdentity, passphraseRecipient } from './age-passphrase.js';

/** Where the secret is that encrypts the key ring: a file with X25519 identities of age, or one with passphrases. */
export interface UnlockFile {
  readonly kind: 'identity' | 'passphrase';
  readonly path: string;
}

/** Encrypts the text of the key ring with age, and decrypts it. */
export interface KeyRingCipher {
  /** ASCII-armoured age file, for the first identity or passphrase of the unlock file. */
  encrypt(text: string): Promise<string>;
  /** @throws ConfigurationError when no identity or passphrase of the unlock file opens it, or it was changed. */
  decrypt(armoured: string): Promise<string>;
}

const identityPattern = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/;

/**
 * Reads the unlock file. Each line is one identity, or one passphrase; empty lines and, among identities, lines that
 * start with `#` are left out. The first line encrypts; all are tried for decrypting, so that a secret can be replaced
 * while relays run.
 * @throws ConfigurationError when the file cannot be read, others may read it, or it holds nothing of use.
 */
export async function openKeyRingCipher(
  { kind, path }: UnlockFile,
  workFactor = defaultScryptWorkFactor,
): Promise<KeyRingCipher> {
  const text = await readPrivateFile(path, `the key ring's ${kind}`);
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  const secrets = kind === 'identity' ? lines.filter((line) => !line.startsWith('#')) : lines;
  const [first] = secrets;
  if (first === undefined || (kind === 'identity' && !secrets.every((line) => identityPattern.test(line)))) {
    const needed = kind === 'identity' ? 'one AGE-SECRET-KEY-1… line for each identity' : 'one passphrase';
    throw new ConfigurationError([
      `The file ${path} does not hold the key ring's ${kind}: it must have ${needed}.`,
    ]);
  }
  const hidden = new Secret(secrets);
  return {
    async encrypt(text) {
      const encrypter = new Encrypter();
      const recipient =
        kind === 'identity' ? await identityToRecipient(first) : passphraseRecipient(first, workFactor);
      encrypter.addRecipient(recipient);
      return armor.encode(await encrypter.encrypt(text));
    },
    async decrypt(armoured) {
      if (armoured.trimStart().startsWith('{')) {
        throw new ConfigurationError([
          'The key ring is not encrypted, and is never used like that: name another file in RELAY_KEY_RING, and take these keys over with waxwing-relay keys import.',
        ]);
      }
      const decrypter = new Decrypter();
      for (const line of hidden.reveal()) {
        decrypter.addIdentity(kind === 'identity' ? line : passphraseIdentity(line));
      }
      try {
        return await decrypter.decrypt(armor.decode(armoured), 'text');
      } catch (cause) {
        throw new ConfigurationError(
          [
            `The key ring cannot be decrypted with ${path}: name the right ${kind} file, or restore the ring from a backup.`,
          ],
          { cause },
        );
      }
    },
  };
}
