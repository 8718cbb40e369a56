import { resolve } from 'node:path';
import {
  ConfigurationError,
  fileTrouble,
  followTrustedLinks,
  isTrustedOwner,
  makePrivateFolder,
  ownUid,
  requireWritableFolder,
  shownMode,
} from '@waxwing/service/config';

/**
 * Creates the uploads folder if it is missing.
 * @throws ConfigurationError if the folder cannot be created, or if anyone other than its owner can access it.
 */
export function makeUploadsFolder(root: string): void {
  try {
    makePrivateFolder(root);
  } catch (error) {
    throw cannotBeMade(root, error);
  }
  requirePrivate(root);
}

/**
 * Dry run of {@link makeUploadsFolder}: checks the preconditions and creates nothing. Returns a note if the folder is
 * missing.
 * @throws ConfigurationError if a precondition is not met.
 */
export function checkUploadsFolder(folder: string): string | undefined {
  const root = resolve(folder);
  let existing: string;
  try {
    existing = requireWritableFolder(root);
  } catch (error) {
    throw cannotBeMade(root, error);
  }
  if (existing !== root) return `the folder ${root} does not exist yet; the server creates it at startup`;
  requirePrivate(root);
  return undefined;
}

function cannotBeMade(root: string, error: unknown): ConfigurationError {
  if (error instanceof ConfigurationError) return error;
  const problem = `The folder ${root} (SERVER_UPLOADS) cannot be created: ${fileTrouble(error)}. Choose a folder whose parent is writable.`;
  return new ConfigurationError([problem], { cause: error });
}

function requirePrivate(root: string): void {
  const problem = describeOpenRoot(root);
  if (problem !== undefined)
    throw new ConfigurationError([`The folder ${root} (SERVER_UPLOADS) ${problem}.`]);
}

function describeOpenRoot(root: string): string | undefined {
  const found = followTrustedLinks(root, ownUid);
  if (found.problem !== undefined) return found.problem;
  const { path, facts } = found;
  if (!isTrustedOwner(facts, ownUid)) {
    return `belongs to user ${facts.uid}, who is neither root nor the user of this program (${ownUid}): run this program as the owner, or run chown -R ${ownUid} ${path}`;
  }
  if ((facts.mode & 0o077) === 0) return undefined;
  return `has mode ${shownMode(facts)}, which lets others use it: run chmod 700 ${path}`;
}
