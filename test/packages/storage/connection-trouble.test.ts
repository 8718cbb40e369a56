import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { openDatabaseWithJobs } from '@waxwing/jobs';
import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { makeTlsIdentity } from '#vendors/credentials/make-certificate.js';
import { eachPostgres } from '../../support/test-databases.js';

const open = (url: string) =>
  openDatabaseWithJobs({ url, migrations: [], role: 'visiting', now: Date.now, onJobError: () => undefined });

const servers: Server[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

/** Listens like a PostgreSQL server. Responds to each client message with the next answer, then disconnects. */
async function listenAnswering(...answers: Buffer[]): Promise<number> {
  const server = createServer((socket) => {
    const left = [...answers];
    socket
      .on('error', () => undefined)
      .on('data', () => {
        socket.write(left.shift() ?? '');
        if (left.length === 0) socket.end();
      });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Builds a PostgreSQL message from its type letter and content. */
function message(letter: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

const refusal = (sqlState: string) =>
  message('E', Buffer.from(`SFATAL\0C${sqlState}\0Mwords of the driver\0\0`));

const authentication = (kind: number, rest: string) =>
  message('R', Buffer.concat([Buffer.from([0, 0, 0, kind]), Buffer.from(rest)]));

describe('A PostgreSQL server that cannot be reached is reported in one sentence, without the password', () => {
  it.each([
    ['28P01', 'it refuses the password of the user "me"; correct the user and password in the URL.'],
    [
      '28000',
      'it rejects connections of the user "me" from this machine; create the user, or allow it in pg_hba.conf.',
    ],
    [
      '3D000',
      'there is no database with that name; create it (createdb -O me birds), or correct the name in the URL.',
    ],
    ['42501', 'the user "me" may not connect to it; grant connect on database birds to me.'],
    ['53300', 'it has no connection left; raise its max_connections, or let fewer processes connect.'],
    ['57P03', 'it is starting or stopping; try again in a moment.'],
  ])('a server that refuses with %s', async (sqlState, sentence) => {
    const port = await listenAnswering(refusal(sqlState));
    await expect(open(`postgres://me:hunter2@127.0.0.1:${port}/birds`)).rejects.toThrow(
      `The PostgreSQL database "birds" at 127.0.0.1, port ${port}, cannot be reached: ${sentence}`,
    );
  });

  it.each([
    [
      'no PostgreSQL',
      [Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
      '',
      'the service there closes the connection',
    ],
    ['no TLS', [Buffer.from('N')], '?sslmode=verify-full', 'it does not support TLS; enable TLS there'],
    [
      'a server that requires a password',
      [authentication(10, 'SCRAM-SHA-256\0\0'), authentication(11, 'r=a')],
      '',
      'it requires a password for the user "me"',
    ],
  ])('%s', async (_, answers, query, sentence) => {
    const port = await listenAnswering(...answers);
    await expect(open(`postgres://me@127.0.0.1:${port}/birds${query}`)).rejects.toThrow(sentence);
  });

  it.each([
    [
      'postgres://me:hunter2@127.0.0.1:1/x',
      'at 127.0.0.1, port 1, cannot be reached: nothing listens there;',
    ],
    ['postgres://me:hunter2@nowhere.invalid/x', 'the name nowhere.invalid cannot be resolved;'],
    [
      'postgres://me@x/birds?host=/nowhere',
      'in /nowhere, port 5432, cannot be reached: there is no accessible PostgreSQL socket',
    ],
    [
      'postgres://me:hunt/er2@127.0.0.1/x',
      'The database URL cannot be read: write postgres://user:password@',
    ],
    [
      'postgres://me:hunt#er2@127.0.0.1/x',
      'The database URL cannot be read: write postgres://user:password@',
    ],
    [
      'postgres://me@h/x?sslrootcert=/nowhere',
      'The file /nowhere that the database URL names cannot be used:',
    ],
  ])('%s', async (url, sentence) => {
    const told = await open(url).catch((error: Error) => error.message);
    expect(told).toContain(sentence);
    expect(told).not.toMatch(/er2/);
  });
});

/**
 * Listens like a PostgreSQL server. Uses TLS with a certificate for 127.0.0.1 if the client requests it, and then
 * refuses the user.
 */
async function listenWithTls(): Promise<{ readonly port: number; readonly ca: string }> {
  const { certificate, privateKey, ca } = await makeTlsIdentity(['127.0.0.1', 'birds.example.org']);
  const secureContext = createSecureContext({ cert: certificate, key: privateKey });
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('S');
      const secured = new TLSSocket(socket, { isServer: true, secureContext });
      secured.on('error', () => undefined).once('data', () => secured.end(refusal('28P01')));
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-tls-'));
  folders.push(folder);
  writeFileSync(join(folder, 'ca.pem'), ca);
  return { port: (server.address() as AddressInfo).port, ca: join(folder, 'ca.pem') };
}

describe('sslmode in a PostgreSQL URL', () => {
  const refusedPassword = 'it refuses the password';
  const untrusted = 'its certificate is not trusted';

  it.each([
    ['sslmode=verify-full', untrusted],
    ['sslmode=require', untrusted],
    ['sslmode=prefer', untrusted],
    ['sslmode=verify-full&sslrootcert=CA', refusedPassword],
    ['sslmode=require&sslrootcert=CA', refusedPassword],
    ['sslmode=no-verify', refusedPassword],
    [
      'sslmode=banana',
      'The database URL has sslmode=banana, which does not exist: write sslmode=verify-full',
    ],
  ])('%s', async (query, sentence) => {
    const warned = vi.spyOn(process, 'emitWarning');
    const { port, ca } = await listenWithTls();
    const url = `postgres://me:hunter2@127.0.0.1:${port}/birds?${query.replace('CA', ca)}`;
    await expect(open(url)).rejects.toThrow(sentence);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
  });

  it('rejects a certificate for another name with verify-full, and reports the expected name', async () => {
    const { port, ca } = await listenWithTls();
    await expect(
      open(`postgres://me@localhost:${port}/birds?sslmode=verify-full&sslrootcert=${ca}`),
    ).rejects.toThrow("its certificate is not for localhost; use the certificate's name in the URL");
  });
});

describe('A user who may not create tables gets an error', () => {
  eachPostgres((backend) => {
    it('that names the missing right, with or without tables of another user', async () => {
      const user = `waxwing_low_${process.pid}`;
      const ownersUrl = await backend.freshUrl();
      const owner = await backend.open({ migrations: [], url: ownersUrl });
      await sql.raw(`create role ${user} login`).execute(owner.db);
      try {
        for (const url of [await backend.freshUrl(), ownersUrl]) {
          const asUser = Object.assign(new URL(url), { username: user });
          await expect(open(asUser.href)).rejects.toThrow(
            `The user "${user}" may not create or change tables in the PostgreSQL database "${asUser.pathname.slice(1)}": permission denied for`,
          );
        }
      } finally {
        await sql.raw(`drop role ${user}`).execute(owner.db);
      }
    });
  });
});

describe('A limit on connections gets an error', () => {
  eachPostgres((backend) => {
    it('that names the role or database whose limit is reached', async () => {
      const user = `waxwing_few_${process.pid}`;
      const url = new URL(await backend.freshUrl());
      const database = url.pathname.slice(1);
      const owner = await backend.open({ migrations: [], url: url.href });
      const run = (statement: string) => sql.raw(statement).execute(owner.db);
      const asUser = Object.assign(url, { username: user }).href;
      await run(`create role ${user} login connection limit 0`);
      try {
        await expect(open(asUser)).rejects.toThrow(
          `cannot be reached: the user "${user}" has as many connections as its role allows; raise that limit (alter role ${user} connection limit N, up to eleven for each process), or let fewer processes connect.`,
        );
        await run(`alter role ${user} connection limit -1`);
        await run(`alter database ${database} connection limit 0`);
        await expect(open(asUser)).rejects.toThrow(
          `cannot be reached: the database "${database}" has as many connections as it allows; raise that limit (alter database ${database} connection limit N, up to eleven for each process), or let fewer processes connect.`,
        );
      } finally {
        await run(`drop role ${user}`);
      }
    });
  });
});
