import { followTrustedLinks } from './follow-trusted-links.js';
import { shownMode } from './shown-mode.js';
import { type FileFacts, isTrustedOwner, ownUid } from './trusted-owner.js';

/** Requirements for a private file. */
export interface PrivateFileRule {
  /**
   * Whether the program itself writes the file. If so, the file's group must have no permissions, even if root owns the
   * file. Default: false.
   */
  readonly isWrittenByProgram?: boolean;
  /** The path as the operator wrote it, without any folder that was prepended later. Default: the path. */
  readonly given?: string;
  /** Id of the user who may own the file, in addition to root. Default: the effective user of this process. */
  readonly own?: number;
}

/** The resolved path of a private file, or the end of a sentence that says why the file must not be used. */
export type FoundPrivateFile =
  | { readonly path: string; readonly problem?: undefined }
  | { readonly problem: string; readonly path?: undefined };

/**
 * Checks a private file, and the links that lead to it, without opening the file.
 * @throws the operating system's error, such as ENOENT
 */
export function findPrivateFile(path: string, rule: PrivateFileRule = {}): FoundPrivateFile {
  const found = followTrustedLinks(path, rule.own ?? ownUid);
  if (found.problem !== undefined) return found;
  const problem = describeUntrustedFile(found.path, found.facts, rule);
  return problem === undefined ? { path: found.path } : { problem };
}

interface FileKind {
  isFile(): boolean;
  isDirectory(): boolean;
  isFIFO(): boolean;
  isSocket(): boolean;
}

/**
 * Explains why a file must not be used as a private file, as the end of a sentence. A private file must be a regular
 * file. Either the process's user owns it and others have no permissions, or root owns it and at most its group may
 * read it. This is PostgreSQL's rule for key files (https://www.postgresql.org/docs/current/ssl-tcp.html). It allows
 * secrets that Kubernetes mounts with an fsGroup (owned by root, mode 0440) and systemd credentials, where the group
 * bits are the mask of an access control list (https://github.com/systemd/systemd/issues/29435).
 */
export function describeUntrustedFile(
  path: string,
  file: FileFacts & FileKind,
  { isWrittenByProgram = false, own = ownUid }: PrivateFileRule = {},
): string | undefined {
  const wrongKind = describeWrongKind(file);
  if (wrongKind !== undefined) return wrongKind;
  if (!isTrustedOwner(file, own)) {
    return `belongs to user ${file.uid}, who is neither root nor the user of this program (${own}): run this program as the owner, or run chown ${own} ${path} and ask who may have read or changed it`;
  }
  const mayBeReadByGroup = file.uid === 0 && !isWrittenByProgram;
  if ((file.mode & (mayBeReadByGroup ? 0o037 : 0o077)) === 0) return undefined;
  // With mode 0600, a program that does not run as root could not read a file owned by root.
  const remedy = mayBeReadByGroup && own !== 0 ? `chmod 440 ${path}` : `chmod 600 ${path}`;
  return `has mode ${shownMode(file)}, which lets others use it: run ${remedy}`;
}

/** Explains why something is not a regular file, as the end of a sentence. */
export function describeWrongKind(file: FileKind): string | undefined {
  if (file.isDirectory()) return 'is a folder: name a file';
  return file.isFile() ? undefined : `is a ${kindOf(file)}: name a regular file`;
}

function kindOf(file: FileKind): string {
  if (file.isFIFO()) return 'named pipe';
  return file.isSocket() ? 'socket' : 'device';
}
