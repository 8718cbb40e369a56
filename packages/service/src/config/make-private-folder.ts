import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ConfigurationError } from './configuration-error.js';

/**
 * Makes a folder that its owner alone may use (mode 0700), and those above it, where they are missing. Node's own way to
 * make them all never ends on a file system that takes no folders and says that there is none, such as /proc.
 * @throws ConfigurationError there, and otherwise the system's error: EEXIST or ENOTDIR where a file is in the way.
 */
export function makePrivateFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Of a folder that is there it may also be said that the disk is read-only.
    if (isFolder(path)) return;
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const above = dirname(path);
    if (isFolder(above)) {
      const problem = `The folder ${path} cannot be made: no folders can be made in ${above}; name another place.`;
      throw new ConfigurationError([problem], { cause: error });
    }
    makePrivateFolder(above);
    makePrivateFolder(path);
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
