import { encodeBase64 } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import {
  createPrivateFile,
  fileExists,
  isPrintablePath,
  readPrivateFile,
  writePrivateFile,
} from '@waxwing/service/config';
import type { Sodium } from '@waxwing/sodium';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { SigningPublicKey } from '../ring/key-ring.js';
import type { UnlockFile } from '../storage/key-ring-cipher.js';

/**
 * Creates the identity file if it is missing and returns its path. Returns `undefined` if the file exists.
 * @throws CommandError if a passphrase file is missing, because the operator must choose the passphrase.
 */
export async function makeIdentityFile({ kind, path }: UnlockFile): Promise<string | undefined> {
  if (await fileExists(path)) return undefined;
  if (kind === 'passphrase') {
    throw new CommandError(
      isPrintablePath(path)
        ? `The passphrase file ${path} is missing: write a long passphrase into it, mode 0600.`
        : 'The passphrase file is missing. Its path is not shown, because it may be the passphrase itself: write a long passphrase into a file of mode 0600, and give the path of that file.',
    );
  }
  await writePrivateFile(path, await newIdentityText());
  return path;
}

/** Creates a recovery key. Writes the private half to a new file of mode 0600, and returns the public half in base64. */
export async function makeRecoveryKey(path: string, sodium: Sodium): Promise<SigningPublicKey> {
  const { publicKey, privateKey } = sodium.generateSigningKeyPair();
  if (!(await createPrivateFile(path, `${encodeBase64(privateKey)}\n`))) throw isThere(path);
  return encodeBase64(publicKey) as SigningPublicKey;
}

/** Creates the error for a target file that already exists and must not be overwritten. */
export function isThere(path: string): CommandError {
  return new CommandError(`The file ${path} already exists: use another path.`);
}

/** Reads the recovery key's private half in base64. @throws ConfigurationError if the file is missing or unsafe. */
export async function readRecoveryKey(path: string): Promise<string> {
  return (await readPrivateFile(path, 'the recovery key')).trim();
}

async function newIdentityText(): Promise<string> {
  const identity = await generateX25519Identity();
  return `# public key: ${await identityToRecipient(identity)}\n${identity}\n`;
}
