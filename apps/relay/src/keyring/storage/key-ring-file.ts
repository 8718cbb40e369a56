import { type BigIntStats, lstatSync, type Stats, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigurationError, fileExists, readPrivateFile, writePrivateFile } from '@waxwing/service/config';
import { withFileLock } from '@waxwing/storage';
import type { KeyRingStore } from './key-ring-store.js';

/**
 * Key ring store in one file of mode 0600. The file must not be a symbolic link or have other hard links. Several
 * relays on one machine may share the file.
 */
export function keyRingFile(path: string): KeyRingStore {
  const read = async () => {
    const file = lstatSync(path, { throwIfNoEntry: false });
    if (file === undefined) return undefined;
    refuseOtherNames(path, file);
    return await readPrivateFile(path, 'the key ring', { isWrittenByProgram: true });
  };
  return {
    location: `the file ${path}`,
    identities: () => fileIdentities(path),
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

// Does not compare paths: links and mounts give one folder several paths, and a file system may treat two names as one
// file.
function fileIdentities(path: string): string[] {
  const options = { bigint: true, throwIfNoEntry: false } as const;
  const numbers = ({ dev, ino }: BigIntStats) => `${dev}:${ino}`;
  const folder = statSync(dirname(path), options);
  const file = lstatSync(path, options);
  return [
    ...(folder === undefined ? [] : [`${numbers(folder)}/${basename(path)}`]),
    ...(file === undefined ? [] : [numbers(file)]),
  ];
}

const leftoverEnd = /^\.[0-9a-f]{12}\.new$/;

// A change replaces the file. A second hard link would keep the old file, with private keys that the change destroyed.
function refuseOtherNames(path: string, file: Stats): void {
  if (file.isDirectory()) {
    throw new ConfigurationError([`The key ring ${path} is a folder: set RELAY_KEY_RING to a file in it.`]);
  }
  if (file.isSymbolicLink()) {
    throw new ConfigurationError([
      `The key ring ${path} is a symbolic link: set RELAY_KEY_RING to the path of its target.`,
    ]);
  }
  if (file.nlink > 1) {
    throw new ConfigurationError([
      `The key ring ${path} has ${file.nlink} names (hard links): remove the others, and make backups with cp, because an old name would keep destroyed keys.`,
    ]);
  }
}

// A process that dies while writing leaves its temporary file behind: an encrypted ring, possibly with keys that have
// since been retired.
async function removeLeftovers(path: string): Promise<void> {
  const isLeftover = (name: string) =>
    name.startsWith(`${basename(path)}.`) && leftoverEnd.test(name.slice(basename(path).length));
  const folder = dirname(path);
  if (!(await fileExists(folder))) return;
  for (const name of await readdir(folder)) {
    if (isLeftover(name)) await rm(join(folder, name), { force: true });
  }
}
