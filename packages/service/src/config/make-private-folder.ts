import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.js';

/**
 * Creates a folder and its missing parents, with mode 0700. Does not use Node's recursive `mkdir`, which loops forever
 * on file systems where every `mkdir` fails with ENOENT, such as /proc.
 * @throws ConfigurationError on such a file system; otherwise the system's error, such as EEXIST or ENOTDIR if a file
 * is in the way.
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Checked after any error: for an existing folder, a read-only file system reports EROFS instead of EEXIST.
    if (isFolder(path)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const above = dirname(path);
    if (isFolder(above)) {
      const problem = `The folder ${path} cannot be created: no folders can be created in ${above}; use another location.`;
      throw new ConfigurationError([problem], { cause: error });
    }
    makePrivateFolder(above);
    makePrivateFolder(path);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
