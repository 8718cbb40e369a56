import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  type FoundPrivateFile,
  fileTrouble,
  findPrivateFile,
  makePrivateFolder,
  requireWritableFolder,
} from '@waxwing/service/config';

/**
 * Creates an empty file of mode 0600, and its folder, if missing. An existing file must be readable and writable, but
 * is not opened: closing it would release all POSIX locks that this process has on it.
 *
 * @throws the operating system's error.
 */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) {
    accessSync(path, constants.R_OK | constants.W_OK);
  } else {
    makePrivateFolder(dirname(path));
    closeSync(openSync(path, 'a', 0o600));
  }
}

/**
 * Explains why a database file cannot be created at `path`, and what to do. Returns `undefined` if the path is usable.
 */
export function describeWrongLocation(path: string): string | undefined {
  const folder = dirname(path);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined) {
    return `The database file ${path} cannot be created, because there is no folder ${folder}: create it with mkdir -m 700, or correct the path.`;
  }
  if (!there.isDirectory()) {
    return `The database file ${path} cannot be created, because ${folder} is a file and not a folder: correct the path.`;
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return `The database ${path} is a folder: name a file in it.`;
  }
  return undefined;
}

/** Explains why this user cannot create a database file at `path`, and what to do. Returns `undefined` if they can. */
export function describeUncreatable(path: string): string | undefined {
  const problem = describeWrongLocation(path);
  if (problem !== undefined) return problem;
  try {
    requireWritableFolder(dirname(path));
    return undefined;
  } catch (error) {
    return `The database file ${path} cannot be created in ${dirname(path)}: ${fileTrouble(error)}.`;
  }
}

/**
 * Explains why a database file is not private, and what to do. A file is private if only root and this process's user
 * can access the file, SQLite's companion files and any symbolic link to the file. Returns `undefined` for private and
 * for missing files.
 */
export function describeOpenness(path: string): string | undefined {
  const file = find(path);
  if (file?.path === undefined) return sentence(path, file);
  for (const end of ['-wal', '-shm', '-journal']) {
    const beside = `${file.path}${end}`;
    const problem = sentence(beside, find(beside));
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function sentence(path: string, found: FoundPrivateFile | undefined): string | undefined {
  return found?.problem === undefined ? undefined : `The database file ${path} ${found.problem}.`;
}

// Checks the file without opening it: closing it would release all POSIX locks that this process has on it.
function find(path: string): FoundPrivateFile | undefined {
  try {
    return findPrivateFile(path, { isWrittenByProgram: true });
  } catch {
    // The file is missing or inaccessible. The error on opening it will say which.
    return undefined;
  }
}
