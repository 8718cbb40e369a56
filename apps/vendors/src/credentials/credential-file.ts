import { randomBytes } from 'node:crypto';
import { link, open, rename, rm } from 'node:fs/promises';

/** Writes a file atomically with mode 0600. Replaces an existing file. */
export async function replaceCredentialFile(path: string, content: string): Promise<void> {
  const temporary = await writeTemporary(path, content);
  await rename(temporary, path);
}

/**
 * Writes a file atomically with mode 0600, unless the file exists.
 * @returns whether the file was written. An existing file is left unchanged.
 */
export async function createCredentialFile(path: string, content: string): Promise<boolean> {
  const temporary = await writeTemporary(path, content);
  try {
    await link(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeTemporary(path: string, content: string): Promise<string> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.new`;
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  return temporary;
}
