import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '@waxwing/service';
import { withFileLock } from '@waxwing/storage';
import type { KeyRingStore } from './key-ring-store.js';

/** The key ring as one file of mode 0600. Several relays on one machine may share it. */
export function keyRingFile(path: string): KeyRingStore {
  const read = async () =>
    (await fileExists(path)) ? await readPrivateFile(path, 'the key ring') : undefined;
  return {
    place: `the file ${path}`,
    read,
    replace: (expected, next) =>
      withFileLock(`${path}.lock`, async () => {
        await removeLeftovers(path);
        if ((await read()) !== expected) return false;
        await writePrivateFile(path, next);
        return true;
      }),
    remove: (expected) =>
      withFileLock(`${path}.lock`, async () => {
        if ((await read()) !== expected) return false;
        await rm(path);
        return true;
      }),
  };
}

// A process that died while writing leaves its new file behind: an encrypted ring with keys that may be retired since.
async function removeLeftovers(path: string): Promise<void> {
  const isLeftover = (name: string) => name.startsWith(`${basename(path)}.`) && name.endsWith('.new');
  const folder = dirname(path);
  if (!(await fileExists(folder))) return;
  for (const name of await readdir(folder)) {
    if (isLeftover(name)) await rm(join(folder, name), { force: true });
  }
}

export async function fileExists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
