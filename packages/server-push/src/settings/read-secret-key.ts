import {
  ConfigurationError,
  createPrivateFile,
  fileTrouble,
  generateCredential,
  readPrivateFile,
  Secret,
} from '@waxwing/service/config';
import type { AdminNames } from '../admin-names.js';
import type { PushAccountSettings } from './account-settings.js';

/**
 * Reads the key that encrypts secrets in the database: 32 bytes as 64 hexadecimal digits.
 * @throws ConfigurationError if there is no key file, it is not private, or it contains anything else.
 */
export async function readSecretKey(
  { keyFile }: PushAccountSettings,
  names: AdminNames,
): Promise<Secret<Uint8Array>> {
  const path = requirePath(keyFile, names);
  const purpose = settingOf(names);
  const text = (await readPrivateFile(path, purpose)).trim();
  if (!/^[0-9a-f]{64}$/i.test(text)) {
    const remedy = `restore it from a backup, or set the correct file in ${purpose}`;
    throw new ConfigurationError([
      `The file ${path} (${purpose}) contains no key of 64 hexadecimal digits: ${remedy}.`,
    ]);
  }
  return new Secret(new Uint8Array(Buffer.from(text, 'hex')));
}

/**
 * Reads the key, and first creates its file with mode 0600 if it is missing. @throws ConfigurationError as
 * readSecretKey does.
 */
export async function readOrCreateSecretKey(
  settings: PushAccountSettings,
  names: AdminNames,
): Promise<Secret<Uint8Array>> {
  const path = requirePath(settings.keyFile, names);
  try {
    await createPrivateFile(path, `${generateCredential().reveal()}\n`);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const problem = `The file ${path} (${settingOf(names)}) cannot be created: ${fileTrouble(error)}.`;
    throw new ConfigurationError([problem], { cause: error });
  }
  return readSecretKey(settings, names);
}

function requirePath(keyFile: string | undefined, names: AdminNames): string {
  if (keyFile !== undefined) return keyFile;
  const what = `${settingOf(names)} is not set, so the key of the relay account cannot be encrypted`;
  throw new ConfigurationError([
    `${what}: set it to a file that ${names.push} enable can create, and use the same file on each machine of this server.`,
  ]);
}

function settingOf({ prefix }: AdminNames): string {
  return `${prefix}KEY_FILE`;
}
