import { accessSync, closeSync, constants, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FoundPrivateFile, findPrivateFile, makePrivateFolder } from '@waxwing/service/config';

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
 * Why a database file must not be used: it, what SQLite keeps beside it, or a link that leads to it is not the process's or
 * root's alone. A sentence that says what to do; `undefined` for private files, and for files that are not there.
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

// By name alone: closing the file would end every lock of the operating system that this process holds on it.
function find(path: string): FoundPrivateFile | undefined {
  try {
    return findPrivateFile(path, { isWrittenByProgram: true });
  } catch {
    // Not there, or out of reach: opening it says why.
    return undefined;
  }
}
