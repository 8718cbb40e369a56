import { rmSync } from 'node:fs';
import type { Server } from 'node:net';
import { ConfigurationError, ownUid } from '@waxwing/service/config';
import { createHttpApp, type HttpAppOptions } from '@waxwing/service/http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import type { RunningService } from '@waxwing/service/lifecycle';
import { withFileLock } from '@waxwing/storage';
import { connectToSocket } from './connect-to-socket.js';
import { describeDistrust, describeOpenFolder, readSocketFacts } from './trusted-socket.js';

/** What the socket serves; where nothing is said of a limit, it is {@link adminLimits}. */
export type AdminSocketOptions = Pick<
  HttpAppOptions,
  'log' | 'metrics' | 'operations' | 'readiness' | 'limits'
>;

/** For commands of one machine: fewer at once than a listener for servers takes, and none that stays for long. */
const adminLimits: Partial<HttpLimits> = {
  maximumConnections: 100,
  maximumRequestsInFlight: 100,
  maximumRequestsPerActor: 100,
  idleTimeoutMilliseconds: 30_000,
};

// What every operating system takes; Linux would cut off what is too long, and listen elsewhere.
const maximumPathBytes = 103;

/**
 * Serves operations on a Unix socket of mode 0600: whoever may open it may do what the relay may. `undefined` when
 * another relay of the same ring listens there: it serves commands as well.
 * @throws ConfigurationError when the path is too long for a socket, something else is there, or what listens there is
 * not trusted.
 */
export async function openAdminSocket(
  path: string,
  options: AdminSocketOptions,
): Promise<RunningService | undefined> {
  requireSocketPath(path);
  // One after the other: of two relays that start at once, one must not remove what the other has just made.
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
      // Fastify closes only what it has opened itself.
      const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
      await Promise.all([closed, app.close()]);
    },
  };
}

/** Whether another relay listens at `path`. @throws ConfigurationError when somebody else may. */
async function isServed(path: string): Promise<boolean> {
  const other = await connectToSocket(path);
  if (other === undefined) return false;
  other.destroy();
  const there = readSocketFacts(path);
  // What answered a moment ago has gone.
  if (there?.socket === undefined) return false;
  const distrust = describeDistrust(path, there, ownUid);
  if (distrust !== undefined) throw new ConfigurationError([distrust]);
  return true;
}

function requireSocketPath(path: string): void {
  if (Buffer.byteLength(path) > maximumPathBytes) {
    throw new ConfigurationError([
      `The path of the relay's socket, ${path}, is too long: set RELAY_KEY_ADMIN_SOCKET to one of at most ${maximumPathBytes} bytes.`,
    ]);
  }
  const there = readSocketFacts(path);
  if (there === undefined) return;
  if (there.socket?.isSocket() === false) {
    throw new ConfigurationError([
      `${path} is where the relay's socket should be, but is no socket: name another path in RELAY_KEY_ADMIN_SOCKET.`,
    ]);
  }
  // The commands would refuse it.
  const problem = describeOpenFolder(path, there.folder, ownUid);
  if (problem !== undefined) throw new ConfigurationError([problem]);
}

function listenPrivately(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // The socket gets its mode 0600 from this: it must never exist with a looser one, not even for a moment.
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
