import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  addUser,
  createServer,
  type Role,
  roles,
  type Server,
  type ServerConfiguration,
} from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { defaultHttpLimits } from '@waxwing/service/http-settings';
import { createLogger } from '@waxwing/service/logging';
import { sql } from 'kysely';

/** A chat server as in production, but in this process and on a new database. */
export interface ChatServer {
  readonly server: Server;
  readonly port: number;
  readonly databaseUrl: string;
  /** Adds an account. Returns the user id and the `Authorization` header. */
  addAccount(
    email: string,
    role?: Role,
  ): Promise<{ readonly userId: number; readonly authorization: string }>;
  /** Copies the server's SQLite file. Returns the path of the copy, which exists until `close`. */
  copyDatabase(): Promise<string>;
  close(): Promise<void>;
}

const realm = { url: 'https://chat.example.com', name: 'Bench' };

export interface ChatServerOptions {
  /** Default: a SQLite file. */
  readonly databaseUrl?: string | undefined;
  /** Default: none. */
  readonly relayUrl?: string;
}

export async function startChatServer(options: ChatServerOptions = {}): Promise<ChatServer> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
  const databaseUrl = options.databaseUrl ?? `sqlite:${join(folder, 'server.sqlite')}`;
  const server = await createServer(
    {
      host: '127.0.0.1',
      port: 0,
      drainMilliseconds: 0,
      metrics: { kind: 'not-configured' },
      databaseUrl: new Secret(databaseUrl),
      logLevel: 'error',
      tracing: { url: undefined, percent: 100, setting: 'SERVER_TRACES_URL' },
      http: defaultHttpLimits,
      realm,
      pushAccount: { keyFile: undefined, allowsPlainHttp: false },
      relayNetwork: { caFile: undefined, proxyUrl: undefined },
      offersWebPublicChannels: false,
      uploads: { store: { kind: 'disk', folder: join(folder, 'uploads') }, quotaBytes: undefined },
      invitationValidityMinutes: 14_400,
      registrationsPerHour: 100_000,
      dashboard: { kind: 'off' },
      relay: relaySettings(options.relayUrl, folder),
    },
    { log: createLogger('waxwing-server', 'error') },
  );
  await server.app.listen({ host: '127.0.0.1', port: 0 });
  return {
    server,
    port: (server.app.server.address() as AddressInfo).port,
    databaseUrl,
    async addAccount(email, role = roles.member) {
      const { user, apiKey } = await addUser(
        server.database,
        { clock: Date.now, realm: { url: realm.url } },
        {
          email,
          fullName: email.split('@')[0] ?? email,
          role,
          isBot: false,
          ownerEmail: undefined,
        },
      );
      const pair = `${email}:${apiKey.reveal()}`;
      return { userId: user.id, authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
    },
    async copyDatabase() {
      const file = join(folder, 'copy.sqlite');
      await sql`vacuum into ${file}`.execute(server.database.db);
      return file;
    },
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function relaySettings(url: string | undefined, folder: string): ServerConfiguration['relay'] {
  if (url === undefined) return { kind: 'not-configured' };
  const serverKeyFile = join(folder, 'server.key');
  writeFileSync(serverKeyFile, 'key', { mode: 0o600 });
  return { kind: 'configured', url, serverId: 'bench', serverKeyFile };
}
