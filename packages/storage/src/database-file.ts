import { accessSync, closeSync, constants, existsSync, openSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, shownMode } from '@waxwing/service/config';

/**
 * Makes an empty file of mode 0600, and its folder, where there is none. One that is there must be readable and writable,
 * but is not opened: closing a file ends every lock of the operating system that this process holds on it.
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

/** Why no database file can be at a path: a sentence that says what to do; `undefined` where one is, or can be made. */
export function describeMisplacement(path: string): string | undefined {
  const folder = dirname(path);
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there === undefined) {
    return `The database file ${path} cannot be made, as there is no folder ${folder}: make it with mkdir -m 700, or mend the path.`;
  }
  if (!there.isDirectory()) {
    return `The database file ${path} cannot be made, as ${folder} is a file and no folder: mend the path.`;
  }
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    return `The database ${path} is a folder: name a file in it.`;
  }
  return undefined;
}

/**
 * Why a database file must not be used: it, or what SQLite keeps beside it, is open to others than its owner. A sentence
 * that says what to do; `undefined` for private files, and for files that are not there.
 */
export function describeOpenness(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  const file = realpathSync(path);
  for (const each of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    const found = statSync(each, { throwIfNoEntry: false });
    if (found !== undefined && (found.mode & 0o077) !== 0) {
      return `The database file ${each} has mode ${shownMode(found)}, which lets others use it: run chmod 600 ${each}, and ask who may have read it.`;
    }
  }
  return undefined;
}
