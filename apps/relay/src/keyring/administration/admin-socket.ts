import { rmSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { type JsonObject, parseJson } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import type { Log } from '@waxwing/service/logging';
import { withFileLock } from '@waxwing/storage';
import { z } from 'zod';
import { type AdminCommandName, adminCommands } from './admin-commands.js';
import type { AdminCommand, KeyAdmin } from './key-admin.js';
import { describeDistrust, describeOpenFolder, readSocketFacts } from './trusted-socket.js';

/*
 * One line of JSON each way over a Unix socket of mode 0600: {"command","arguments","actor"}, then {"answer"} or
 * {"refusal"}. Who may open the socket may do with the keys what the relay may.
 */

const request = z.strictObject({
  command: z.string().refine((name): name is AdminCommandName => Object.hasOwn(adminCommands, name)),
  arguments: z.unknown(),
  actor: z.string().max(100),
});
const reply = z.union([
  z.strictObject({ answer: z.record(z.string(), z.unknown()) }),
  z.strictObject({ refusal: z.string() }),
]);

const maximumLineBytes = 1024 * 1024;
const defaultIdleMilliseconds = 30_000;
// What every operating system takes; Linux would cut off what is too long, and listen elsewhere.
const maximumPathBytes = 103;
const ownUid = process.geteuid?.() ?? 0;

export interface AdminCall {
  readonly command: AdminCommandName;
  readonly arguments: JsonObject;
  readonly actor: string;
}

export interface AdminService {
  readonly admin: KeyAdmin;
  readonly log: Log;
  /** How long a connection may be silent before it is closed; 30 seconds where nothing is said. */
  readonly idleMilliseconds?: number;
}

/** Does what a call asks. @throws CommandError or ConfigurationError when it must not be done. */
export async function runAdminCommand(admin: KeyAdmin, call: AdminCall): Promise<JsonObject> {
  const command: AdminCommand = adminCommands[call.command];
  return command.run({ admin, actor: call.actor }, command.arguments.parse(call.arguments));
}

/**
 * Lets commands on this machine reach the running relay. `undefined` when another relay of the same ring listens there:
 * it serves them as well.
 * @throws ConfigurationError when the path is too long for a socket, something else is there, or what listens there is
 * not trusted.
 */
export async function openAdminSocket(
  path: string,
  service: AdminService,
): Promise<{ close(): Promise<void> } | undefined> {
  requireSocketPath(path);
  // One after the other: of two relays that start at once, one must not remove what the other has just made.
  return withFileLock(`${path}.lock`, () => openUnlessOpen(path, service));
}

async function openUnlessOpen(
  path: string,
  service: AdminService,
): Promise<{ close(): Promise<void> } | undefined> {
  if (await isServed(path)) return undefined;
  rmSync(path, { force: true });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A command that is interrupted leaves its answer unread, which ends the connection with an error.
    socket.on('error', () => socket.destroy());
    void serve(socket, service);
  });
  await listenPrivately(server, path);
  return {
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of open) socket.destroy();
      }),
  };
}

/**
 * The running relay's answer to a call; `undefined` when none listens at `path`. Nothing is sent before it is certain
 * that nobody else than this user or root listens there: a call may hold a private key.
 * @throws CommandError when it refuses, or is not trusted.
 */
export async function callAdminSocket(path: string, call: AdminCall): Promise<JsonObject | undefined> {
  const socket = await connectTrusted(path);
  if (socket === undefined) return undefined;
  socket.write(`${JSON.stringify(call)}\n`);
  const parsed = reply.safeParse(parseJson((await readLine(socket, defaultIdleMilliseconds)) || 'null'));
  socket.destroy();
  if (!parsed.success)
    throw new CommandError('The relay went away before it answered: see its log, then try again.');
  if ('refusal' in parsed.data) throw new CommandError(parsed.data.refusal);
  return parsed.data.answer as JsonObject;
}

async function serve(
  socket: Socket,
  { admin, log, idleMilliseconds = defaultIdleMilliseconds }: AdminService,
): Promise<void> {
  try {
    const call = request.parse(parseJson(await readLine(socket, idleMilliseconds)));
    const answer = await runAdminCommand(admin, call as AdminCall);
    socket.end(`${JSON.stringify({ answer })}\n`);
  } catch (error) {
    const expected = error instanceof CommandError || error instanceof ConfigurationError;
    if (!expected) log.error({ err: error }, 'a command about keys failed');
    const refusal = expected ? error.message : 'The relay could not do it: see its log.';
    socket.end(`${JSON.stringify({ refusal })}\n`);
  }
}

async function connectTrusted(path: string): Promise<Socket | undefined> {
  const before = readSocketFacts(path);
  if (before?.socket === undefined) return undefined;
  const distrust = describeDistrust(path, before, ownUid);
  if (distrust !== undefined) throw new CommandError(distrust);
  const socket = await tryConnect(path);
  const after = readSocketFacts(path)?.socket;
  if (socket !== undefined && (after?.ino !== before.socket.ino || after.dev !== before.socket.dev)) {
    socket.destroy();
    throw new CommandError(`The relay's socket ${path} was replaced a moment ago: try again.`);
  }
  return socket;
}

/** Whether another relay listens at `path`. @throws ConfigurationError when somebody else may. */
async function isServed(path: string): Promise<boolean> {
  const other = await tryConnect(path);
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
      server.listen(path, resolve);
    } finally {
      process.umask(before);
    }
  });
}

function tryConnect(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      // Its end shows as a line that never came.
      socket.on('error', () => socket.destroy());
      resolve(socket);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ECONNREFUSED') resolve(undefined);
      else
        reject(
          new CommandError(
            `The relay's socket ${path} cannot be used (${error.message}): run this as the relay's user.`,
          ),
        );
    });
  });
}

/** The first line, without its end; empty when the other side goes away or stays silent before. */
function readLine(socket: Socket, idleMilliseconds: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(idleMilliseconds, () => socket.destroy());
    socket.once('close', () => resolve(''));
    socket.on('data', (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end >= 0) resolve(text.slice(0, end));
      else if (text.length > maximumLineBytes) socket.destroy();
    });
  });
}
