/** The properties of a file that determine who can use and replace it. */
export interface FileFacts {
  readonly mode: number;
  readonly uid: number;
}

const stickyBit = 0o1000;

/** The effective user of this process; 0 (root) on operating systems without users. */
export const ownUid = process.geteuid?.() ?? 0;

/** Whether a file belongs to the user `own` or to root, who can read every file anyway. */
export function isTrustedOwner({ uid }: FileFacts, own: number): boolean {
  return uid === own || uid === 0;
}

/**
 * Whether users other than a folder's owner can replace files in it. In a sticky folder, such as /tmp, only a file's
 * owner can.
 */
export function letsOthersReplace({ mode }: FileFacts): boolean {
  return (mode & 0o022) !== 0 && (mode & stickyBit) === 0;
}
