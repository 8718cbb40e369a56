import { randomBytes } from 'node:crypto';
import { open, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.js';
import { fileTrouble } from './file-trouble.js';
import { makePrivateFolder } from './make-private-folder.js';
import { shownMode } from './shown-mode.js';
import { syncFolder } from './sync-folder.js';

/**
 * Reads a file that holds a secret.
 * @throws ConfigurationError when it cannot be read, or when others than its owner may read or write it. A credential
 * that systemd hands to a service may be read by that service's user as well.
 */
export async function readPrivateFile(path: string, purpose: string): Promise<string> {
  try {
    const file = await stat(path);
    if (file.isDirectory()) {
      throw new ConfigurationError([`${path} (${purpose}) is a folder: name a file.`]);
    }
    if ((file.mode & 0o077) !== 0 && !isSystemdCredential(file, await stat(dirname(path)))) {
      throw new ConfigurationError([
        `The file ${path} (${purpose}) has mode ${shownMode(file)}, which lets others use it: run chmod 600 ${path}.`,
      ]);
    }
    return await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new ConfigurationError([`The file ${path} (${purpose}) cannot be read: ${fileTrouble(error)}.`], {
      cause: error,
    });
  }
}

interface Permissions {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Whether a file is what systemd makes of a credential for a service that does not run as root: root's own, in a folder
 * that is closed to others, with the service's user let in by an access control list. The mode of such a file is 0440,
 * where the middle digit is the list's mask and not the right of a group
 * (https://github.com/systemd/systemd/issues/29435).
 */
export function isSystemdCredential(file: Permissions, folder: Permissions): boolean {
  const isRoots = [file, folder].every(({ uid, gid }) => uid === 0 && gid === 0);
  return isRoots && (file.mode & 0o777) === 0o440 && (folder.mode & 0o027) === 0;
}

/**
 * Writes a file that only its owner may read: whole or not at all, and on the disk when the promise resolves.
 * Its folder is made (mode 0700) when it is missing.
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
 * Writes a new file that only its owner may read, under its own name from the start: a process that dies meanwhile leaves
 * no secret where nobody looks for it. On the disk when the promise resolves. Its folder is made (mode 0700) when it is
 * missing. Whether that happened: not where something has this name already.
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
