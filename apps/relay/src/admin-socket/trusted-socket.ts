import { existsSync, lstatSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type FileFacts, isTrustedOwner, letsOthersReplace, shownMode } from '@waxwing/service/config';

/** What decides whether a socket is trusted. */
export interface SocketFacts {
  /** Of the path itself, not of what a link leads to; `undefined` when nothing is there. */
  readonly socket: (FileFacts & Pick<Stats, 'dev' | 'ino' | 'isSocket'>) | undefined;
  readonly folder: FileFacts;
}

/** `undefined` when not even the folder is there. */
export function readSocketFacts(path: string): SocketFacts | undefined {
  if (!existsSync(dirname(path))) return undefined;
  return {
    socket: lstatSync(path, { throwIfNoEntry: false }),
    folder: statSync(dirname(path)),
  };
}

/**
 * Why the socket at `path` must not be given a private key, one sentence that says what to do; `undefined` for one that
 * belongs to this user or root, is closed to all others, and lies where nobody else can put another in its place. The
 * owner of a socket is whoever listens on it: only root can give it away.
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

/** The same question about the folder alone, for whoever is about to listen there. */
export function describeOpenFolder(path: string, folder: FileFacts, uid: number): string | undefined {
  const name = dirname(path);
  if (!isTrustedOwner(folder, uid)) {
    return `The folder ${name} of the relay's socket belongs to user ${folder.uid}, who could put another in its place: give it to the relay's user, or name a folder of that user's in RELAY_KEY_ADMIN_SOCKET.`;
  }
  if (letsOthersReplace(folder)) {
    return `The folder ${name} of the relay's socket has mode ${shownMode(folder)}, which lets others put another in its place: run chmod go-w ${name}, or name another folder in RELAY_KEY_ADMIN_SOCKET.`;
  }
  return undefined;
}
