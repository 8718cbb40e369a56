import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FileFacts, isTrustedOwner, letsOthersReplace, shownMode } from '@waxwing/service/config';

/** File metadata that decides whether a socket is trusted. */
export interface SocketFacts {
  /** The file at the path itself (`lstat`), not a link's target; `undefined` if there is none. */
  readonly socket: (FileFacts & Pick<Stats, 'dev' | 'ino' | 'isSocket'>) | undefined;
  readonly folder: FileFacts;
}

/** Reads the {@link SocketFacts} for `path`. Returns `undefined` if its folder does not exist. */
export function readSocketFacts(path: string): SocketFacts | undefined {
  if (!existsSync(dirname(path))) return undefined;
  return {
    socket: lstatSync(path, { throwIfNoEntry: false }),
    folder: statSync(dirname(path)),
  };
}

/**
 * Explains in one sentence why the socket at `path` must not receive a private key, and what to do. Returns `undefined`
 * for a trusted socket: this user or root owns it, and other users can neither connect to it nor replace it in its
 * folder. A socket's owner is the user who listens on it, because only root can change the owner.
 */
export function describeDistrust(
  path: string,
  { socket, folder }: SocketFacts,
  uid: number,
): string | undefined {
  if (socket !== undefined && !isTrustedOwner(socket, uid)) {
    return `The relay's socket ${path} belongs to user ${socket.uid}, not to you or root: run this as the relay's user, or find out who listens there.`;
  }
  if (socket !== undefined && (socket.mode & 0o077) !== 0) {
    return `The relay's socket ${path} has mode ${shownMode(socket)}, which lets others use it: run chmod 600 ${path}, and find out who changed it.`;
  }
  return describeOpenFolder(path, folder, uid);
}

/** Like {@link describeDistrust}, but checks only the socket's folder. Call it before listening at `path`. */
export function describeOpenFolder(path: string, folder: FileFacts, uid: number): string | undefined {
  const name = dirname(path);
  if (!isTrustedOwner(folder, uid)) {
    return `The folder ${name} of the relay's socket belongs to user ${folder.uid}, who could replace the socket: make the relay's user its owner, or set RELAY_KEY_ADMIN_SOCKET to a path in a folder of that user.`;
  }
  if (letsOthersReplace(folder)) {
    return `The folder ${name} of the relay's socket has mode ${shownMode(folder)}, which lets others replace the socket: run chmod go-w ${name}, or set RELAY_KEY_ADMIN_SOCKET to a path in another folder.`;
  }
  return undefined;
}
