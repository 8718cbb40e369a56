import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { shownMode } from '@waxwing/service/config';

type Facts = Pick<Stats, 'mode' | 'uid'>;

/** What decides whether a socket is trusted. */
export interface SocketFacts {
  /** Of the path itself, not of what a link leads to; `undefined` when nothing is there. */
  readonly socket: (Facts & Pick<Stats, 'dev' | 'ino' | 'isSocket'>) | undefined;
  readonly folder: Facts;
}

const stickyBit = 0o1000;

/** Whom this process runs as; 0, root, where the system has no users. */
export const ownUid = process.geteuid?.() ?? 0;

/** `undefined` when not even the folder is there. */
export function readSocketFacts(path: string): SocketFacts | undefined {
  if (!existsSync(dirname(path))) return undefined;
  return {
    socket: lstatSync(path, { throwIfNoEntry: false }),
    folder: statSync(realpathSync(dirname(path))),
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
  const isTrusted = (owner: number) => owner === uid || owner === 0;
  if (socket !== undefined && !isTrusted(socket.uid)) {
    return `The relay's socket ${path} belongs to user ${socket.uid}, not to you or root: run this as the relay's user, or find out who listens there.`;
  }
  if (socket !== undefined && (socket.mode & 0o077) !== 0) {
    return `The relay's socket ${path} has mode ${shownMode(socket)}, which lets others use it: run chmod 600 ${path}, and find out who changed it.`;
  }
  return describeOpenFolder(path, folder, uid);
}

/** The same question about the folder alone, for whoever is about to listen there. */
export function describeOpenFolder(path: string, folder: Facts, uid: number): string | undefined {
  const name = dirname(path);
  if (folder.uid !== uid && folder.uid !== 0) {
    return `The folder ${name} of the relay's socket belongs to user ${folder.uid}, who could put another in its place: give it to the relay's user, or name a folder of that user's in RELAY_KEY_ADMIN_SOCKET.`;
  }
  // In a sticky folder, such as /tmp, only its owner moves a socket away.
  if ((folder.mode & 0o022) !== 0 && (folder.mode & stickyBit) === 0) {
    return `The folder ${name} of the relay's socket has mode ${shownMode(folder)}, which lets others put another in its place: run chmod go-w ${name}, or name another folder in RELAY_KEY_ADMIN_SOCKET.`;
  }
  return undefined;
}
