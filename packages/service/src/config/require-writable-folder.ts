import { accessSync, constants, lstatSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Checks that this user may create files in a folder or, if the folder does not exist, may create it. Creates nothing.
 * Returns the folder or its nearest existing parent.
 * @throws the operating system's error, such as EACCES, or ENOTDIR if a file is in the way.
 */
export function requireWritableFolder(folder: string): string {
  let existing = resolve(folder);
  while (lstatSync(existing, { throwIfNoEntry: false }) === undefined) existing = dirname(existing);
  // With `/.`, the check fails if the path is a file.
  accessSync(`${existing}/.`, constants.W_OK | constants.X_OK);
  return existing;
}
