import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addUser, createServer, type Role, roles, type Server } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { defaultHttpLimits } from '@waxwing/service/http';
import { createLogger } from '@waxwing/service/logging';

/** A chat server as production assembles it, in this process, on a database of its own. */
export interface ChatServer {
  readonly server: Server;
  readonly port: number;
  readonly databaseUrl: string;
  /** Adds an account; its `Authorization` header. */
  addAccount(
    email: string,
    role?: Role,
  ): Promise<{ readonly userId: number; readonly authorization: string }>;
  close(): Promise<void>;
}

const realm = { url: 'https://chat.example.com', name: 'Bench' };

/** On a SQLite file where no address of a database is given. */
export async function startChatServer(givenUrl?: string): Promise<ChatServer> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
  const databaseUrl = givenUrl ?? `sqlite:${join(folder, 'server.sqlite')}`;
  const server = await createServer(
    {
      host: '127.0.0.1',
      port: 0,
      metrics: { kind: 'not-configured' },
      databaseUrl: new Secret(databaseUrl),
      logLevel: 'error',
      http: defaultHttpLimits,
      realm,
      offersWebPublicChannels: false,
      uploads: { store: { kind: 'disk', folder: join(folder, 'uploads') }, quotaBytes: undefined },
      invitationValidityMinutes: 14_400,
      registrationsPerHour: 60,
      relay: { kind: 'not-configured' },
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
    async close() {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
