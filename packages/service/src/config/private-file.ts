import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.js';
import { fileTrouble } from './file-trouble.js';
import { describeUntrustedFile, findPrivateFile, type PrivateFileRule } from './find-private-file.js';
import { makePrivateFolder } from './make-private-folder.js';
import { isPrintablePath } from './misplaced-secret.js';
import { syncFolder } from './sync-folder.js';

// O_NONBLOCK: if the file was replaced with a named pipe, opening it must not wait for a writer.
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Size limit, far above any key, credential or key ring. Without it, reading a huge file would block the program for
 * seconds.
 */
const maximumMebibytes = 16;
const maximumBytes = maximumMebibytes * 1024 * 1024;

/**
 * Reads a file that contains a secret and returns its text without a byte-order mark. The file must be a regular file
 * that belongs to root or to this process's user, and other users must not be able to read or write it. If root owns
 * the file, its group may read it, unless the program writes it. Links to the file must be equally safe.
 * @throws ConfigurationError if the file cannot be read, is larger than 16 MiB, or can be read or replaced by others
 */
export async function readPrivateFile(
  path: string,
  purpose: string,
  rule: PrivateFileRule = {},
): Promise<string> {
  const subject = `The file ${path} (${purpose})`;
  try {
    const found = findPrivateFile(path, rule);
    if (found.problem !== undefined) throw new ConfigurationError([`${subject} ${found.problem}.`]);
    const file = await open(found.path, openFlags);
    try {
      // Checks the open file again, because the path may have been replaced since the first check (TOCTOU race).
      const facts = await file.stat();
      const problem = describeUntrustedFile(found.path, facts, rule) ?? describeSize(facts);
      if (problem !== undefined) throw new ConfigurationError([`${subject} ${problem}.`]);
      return decodeText(await file.readFile());
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    if (!isPrintablePath(rule.given ?? path)) {
      const hidden = `The path given for a file (${purpose}) is not that of a readable file. It is not shown, because it may be the secret itself`;
      const remedy = 'write the secret to a file of mode 0600, and give the path of that file';
      // Keeps only the code, because the message and path in the error contain the secret.
      const cause = { code: (error as NodeJS.ErrnoException).code };
      throw new ConfigurationError([`${hidden}: ${remedy}.`], { cause });
    }
    throw new ConfigurationError([`${subject} cannot be read: ${fileTrouble(error)}.`], { cause: error });
  }
}

function describeSize({ size }: { readonly size: number }): string | undefined {
  if (size <= maximumBytes) return undefined;
  return `is ${size} bytes, more than the maximum of ${maximumMebibytes} MiB: check its path`;
}

/**
 * Decodes UTF-8, or UTF-16 as written by PowerShell and Windows editors. Drops the byte-order mark that Windows
 * programs write at the start of a file.
 */
function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  return new TextDecoder().decode(bytes);
}

/**
 * Writes a file atomically, with mode 0600. When the promise resolves, the file is synced to disk. Creates missing
 * folders with mode 0700.
 */
export async function writePrivateFile(path: string, content: string | Uint8Array): Promise<void> {
  makePrivateFolder(dirname(path));
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    await writeNew(temporary, content);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/**
 * Creates a file with mode 0600. When the promise resolves, the file is synced to disk. Returns false if the file
 * already exists. Writes directly under the final name, so that a crash does not leave the secret behind in a temporary
 * file. Creates missing folders with mode 0700.
 */
export async function createPrivateFile(path: string, content: string): Promise<boolean> {
  makePrivateFolder(dirname(path));
  try {
    await writeNew(path, content);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    await rm(path, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
  return true;
}

async function writeNew(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}
