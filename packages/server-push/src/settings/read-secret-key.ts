import {
  ConfigurationError,
  createPrivateFile,
  fileTrouble,
  generateCredential,
  readPrivateFile,
  Secret,
} from '@waxwing/service/config';
import type { PushAccountSettings } from './account-settings.js';

const purpose = 'SERVER_KEY_FILE';

/**
 * Reads the key that encrypts secrets in the database: 32 bytes as 64 hexadecimal digits.
 * @throws ConfigurationError if there is none, its file is not private, or it holds something else.
 */
export async function readSecretKey({ keyFile }: PushAccountSettings): Promise<Secret<Uint8Array>> {
  const path = requirePath(keyFile);
  const text = (await readPrivateFile(path, purpose)).trim();
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    const remedy = 'restore it from a backup, or name the right file in SERVER_KEY_FILE';
    throw new ConfigurationError([
      `The file ${path} (${purpose}) holds no key of 64 hexadecimal digits: ${remedy}.`,
    ]);
  }
  return new Secret(new Uint8Array(Buffer.from(text, 'hex')));
}

/** Reads the key, after creating its file with mode 0600 if there is none. @throws ConfigurationError as readSecretKey. */
export async function readOrCreateSecretKey(settings: PushAccountSettings): Promise<Secret<Uint8Array>> {
  const path = requirePath(settings.keyFile);
  try {
    await createPrivateFile(path, `${generateCredential().reveal()}\n`);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const problem = `The file ${path} (${purpose}) cannot be created: ${fileTrouble(error)}.`;
    throw new ConfigurationError([problem], { cause: error });
  }
  return readSecretKey(settings);
}

function requirePath(keyFile: string | undefined): string {
  if (keyFile !== undefined) return keyFile;
  const what = 'SERVER_KEY_FILE is not set, so the key of the relay account cannot be encrypted';
  throw new ConfigurationError([
    `${what}: name a file, the same on each machine of this server, that push enable may create.`,
  ]);
}
