import { rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { ConfigurationError, ownUid } from '@waxwing/service/config';
import { createHttpApp, type HttpAppOptions } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import type { RunningService } from '@waxwing/service/lifecycle';
import { withFileLock } from '@waxwing/storage';
import { connectToSocket } from './connect-to-socket.js';
import { describeDistrust, describeOpenFolder, readSocketFacts } from './trusted-socket.js';

/** Options of the admin socket. Limits default to {@link adminLimits}. */
export type AdminSocketOptions = Pick<
  HttpAppOptions,
  'log' | 'metrics' | 'operations' | 'readiness' | 'limits'
>;

/** Limits for commands on one machine: lower than those of the listener for servers, with a shorter idle timeout. */
const adminLimits: Partial<HttpLimits> = {
  maximumConnections: 100,
  maximumRequestsInFlight: 100,
  maximumRequestsPerActor: 100,
  idleTimeoutMilliseconds: 30_000,
};

// The longest path that all operating systems accept. Linux would truncate a longer path and listen elsewhere.
const maximumPathBytes = 103;

/**
 * Serves operations on a Unix socket with mode 0600: access to the socket grants the relay's own rights. Returns
 * `undefined` if another relay with the same key ring already listens there: that relay then serves the commands.
 * @throws ConfigurationError if the path is too long for a socket, or if it names a file that is not a socket or a
 * socket with an untrusted listener.
 */
export async function openAdminSocket(
  path: string,
  options: AdminSocketOptions,
): Promise<RunningService | undefined> {
  requireSocketPath(path);
  // Locked: otherwise, if two relays start together, one could remove the socket that the other has just created.
  return withFileLock(`${path}.lock`, () => openUnlessOpen(path, options));
}

async function openUnlessOpen(
  path: string,
  options: AdminSocketOptions,
): Promise<RunningService | undefined> {
  if (await isServed(path)) return undefined;
  rmSync(path, { force: true });
  const app = await createHttpApp({ ...options, limits: { ...adminLimits, ...options.limits } });
  await app.ready();
  await listenPrivately(app.server, path);
  return {
    async close() {
      // Fastify closes only a server that it started itself.
      const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
      await Promise.all([closed, app.close()]);
    },
  };
}

/**
 * Whether another relay listens at `path`.
 * @throws ConfigurationError if the listener is not trusted.
 */
async function isServed(path: string): Promise<boolean> {
  const other = await connectToSocket(path);
  if (other === undefined) return false;
  other.destroy();
  const there = readSocketFacts(path);
  // The other relay removed its socket after the connection was made.
  if (there?.socket === undefined) return false;
  const distrust = describeDistrust(path, there, ownUid);
  if (distrust !== undefined) throw new ConfigurationError([distrust]);
  return true;
}

/** Checks that the relay could listen at `path`, but does not listen. @throws ConfigurationError if it could not. */
export function requireSocketPath(path: string): void {
  if (Buffer.byteLength(path) > maximumPathBytes) {
    throw new ConfigurationError([
      `The path of the relay's socket, ${path}, is too long: set RELAY_KEY_ADMIN_SOCKET to one of at most ${maximumPathBytes} bytes.`,
    ]);
  }
  const there = readSocketFacts(path);
  if (there === undefined) return;
  if (there.socket?.isSocket() === false) {
    throw new ConfigurationError([
      `${path} is the path of the relay's socket, but it is not a socket: set another path in RELAY_KEY_ADMIN_SOCKET.`,
    ]);
  }
  // Refuse a folder that others can write to, because commands would refuse a socket in it.
  const problem = describeOpenFolder(path, there.folder, ownUid);
  if (problem !== undefined) throw new ConfigurationError([problem]);
}

function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // With this umask, the socket has mode 0600 from its creation: other users must not get access even briefly.
    const before = process.umask(0o177);
    try {
      server.listen(path, () => {
        server.off('error', reject);
        resolve();
      });
    } finally {
      process.umask(before);
    }
  });
}
