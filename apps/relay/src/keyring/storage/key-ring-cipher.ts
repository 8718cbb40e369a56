import { createHash } from 'node:crypto';
import { ConfigurationError, readPrivateFile, Secret } from '@waxwing/service/config';
import { armor, identityToRecipient } from 'age-encryption';
import { decryptAgeFile, encryptAgeFile } from './age-file.js';
import { defaultScryptWorkFactor, passphraseIdentity, passphraseRecipient } from './age-passphrase.js';

/** File with the secret that encrypts the key ring: age X25519 identities, or passphrases. */
export interface UnlockFile {
  readonly kind: 'identity' | 'passphrase';
  readonly path: string;
}

/** Encrypts and decrypts the key ring's bytes with age. */
export interface KeyRingCipher {
  /** Hash of the unlock file's text. */
  readonly fingerprint: string;
  /** Returns an ASCII-armored age file, encrypted for the first identity or passphrase in the unlock file. */
  encrypt(document: Uint8Array): Promise<string>;
  /**
   * Returns the plaintext, which the caller wipes.
   * @throws ConfigurationError if no identity or passphrase in the unlock file decrypts the text, or if the text was
   * modified.
   */
  decrypt(armoured: string): Promise<Uint8Array>;
}

/** Minimum for a new ring's passphrase: a copied ring allows unlimited offline guesses. */
const minimumPassphraseCharacters = 16;
const armourEnd = /-----END AGE ENCRYPTED FILE-----\s*$/;

function refuseShortPassphrase(passphrase: string, path: string): void {
  const { length } = [...passphrase];
  if (length >= minimumPassphraseCharacters) return;
  throw new ConfigurationError([
    `The passphrase in ${path} has ${length} characters and can be guessed: use at least ${minimumPassphraseCharacters}, such as six random words.`,
  ]);
}

function describeUnopened(armoured: string, path: string): string {
  return armourEnd.test(armoured)
    ? `The key ring cannot be decrypted with ${path}: if it was rewrapped for another file, set RELAY_KEY_RING_IDENTITY_FILE, or RELAY_KEY_RING_PASSPHRASE_FILE, to that file and restart the relay; otherwise set the correct file, or restore the ring from a backup.`
    : 'The key ring may be damaged, because its end is missing: restore the ring from a backup.';
}

const identityPattern = /^AGE-SECRET-KEY-1[02-9AC-HJ-NP-Z]{58}$/;

/**
 * Reads the unlock file. Each line is one identity or one passphrase. Skips empty lines and, in an identity file, lines
 * that start with `#`. Encryption uses the first line. Decryption tries all lines, so that a secret can be replaced
 * while relays run.
 * @throws ConfigurationError if the file cannot be read, is readable by others, or contains no usable secret.
 */
export async function openKeyRingCipher(
  { kind, path }: UnlockFile,
  workFactor = defaultScryptWorkFactor,
): Promise<KeyRingCipher> {
  const text = await readPrivateFile(path, `the key ring's ${kind}`);
  const lines = text.split(/\r\n?|\n/).filter((line) => line.trim() !== '');
  // Only identities are trimmed: spaces around an identity are a mistake, but spaces in a passphrase are significant.
  const secrets =
    kind === 'identity' ? lines.map((line) => line.trim()).filter((line) => !line.startsWith('#')) : lines;
  const [first] = secrets;
  if (first === undefined || (kind === 'identity' && !secrets.every((line) => identityPattern.test(line)))) {
    const needed = kind === 'identity' ? 'one AGE-SECRET-KEY-1… line for each identity' : 'one passphrase';
    throw new ConfigurationError([
      `The file ${path} does not contain the key ring's ${kind}: it must have ${needed}.`,
    ]);
  }
  const hidden = new Secret(secrets);
  return {
    fingerprint: createHash('sha256').update(text).digest('hex'),
    async encrypt(document) {
      if (kind === 'passphrase') refuseShortPassphrase(first, path);
      const recipient =
        kind === 'identity' ? await identityToRecipient(first) : passphraseRecipient(first, workFactor);
      return armor.encode(await encryptAgeFile(document, recipient));
    },
    async decrypt(armoured) {
      if (armoured.trimStart().startsWith('{')) {
        throw new ConfigurationError([
          'The key ring is not encrypted, so it is refused: set another file in RELAY_KEY_RING, and import these keys with waxwing-relay keys import.',
        ]);
      }
      const identities = hidden
        .reveal()
        .map((line) => (kind === 'identity' ? line : passphraseIdentity(line)));
      try {
        return await decryptAgeFile(armor.decode(armoured), identities);
      } catch (cause) {
        throw new ConfigurationError([describeUnopened(armoured, path)], { cause });
      }
    },
  };
}
