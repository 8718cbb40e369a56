import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askAdminSocket } from '#relay/admin-socket/ask-admin-socket.js';
import { importPlainKeys, rotateKeys } from '#relay/keyring/administration/change-keys.js';
import { closing } from '../../../support/closing.js';
import { freshFolder } from '../keyring/ring-material.js';
import { adminSocketAt, listThrough } from './admin-socket-under-test.js';

type AdminSocket = Awaited<ReturnType<typeof adminSocketAt>>;

let path: string;
let opened: AdminSocket;
beforeEach(async () => {
  path = join(freshFolder(), 'relay.sock');
  opened = await adminSocketAt(path);
});
afterEach(() => opened.close());

/** Sends `text`. Returns everything that the relay sends until the connection ends. */
async function exchange(text: string): Promise<string> {
  const socket = connect(path);
  let received = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
  });
  const closed = closing(socket);
  socket.write(text);
  await closed;
  return received;
}

async function connected(): Promise<Socket> {
  const socket = connect(path);
  await once(socket, 'connect');
  return socket;
}

function rotation(dryRun = false) {
  const form = { dry_run: String(dryRun) };
  return askAdminSocket(path, { declared: rotateKeys, form, operatorName: 'Ada Löve' });
}

describe('a request to the admin socket', () => {
  it('is logged by operation, without the operator’s name', async () => {
    expect(await rotation()).toMatchObject({ changed: true });
    expect(opened.logged()).toContain('"operation":"POST /admin/api/keys/rotate"');
    expect(opened.logged()).not.toContain('Löve');
    const text = await opened.metrics.text();
    expect(text).toContain('operation="POST /admin/api/keys/rotate",status="200"');
  });

  it('logs no warning when the connection ends before a request', async () => {
    (await connected()).destroy();
    const closed = await connected();
    closed.resume().end();
    await closing(closed);
    await rotation();
    expect(opened.logged()).not.toMatch(/"level":"(?:warn|error|fatal)"/);
  });

  it('is refused without a valid operator name', async () => {
    for (const name of ['', 'waxwing-operator: %zz\r\n', `waxwing-operator: ${'x'.repeat(101)}\r\n`]) {
      const answer = await exchange(
        `GET /admin/api/keys HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n${name}\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 401 [\s\S]*"code":"UNAUTHORIZED"/);
    }
  });

  it('is refused with the reason if it is too large', async () => {
    const form = { file: 'x'.repeat(3 * 1024 * 1024) };
    const question = { declared: importPlainKeys, form, operatorName: 'test' };
    await expect(askAdminSocket(path, question)).rejects.toThrow('Request body too large');
    expect(await listThrough(path)).toBeTypeOf('object');
  });

  it('is cut off if its body never ends', async () => {
    const head = 'POST /admin/api/keys/rotate HTTP/1.1\r\nhost: localhost\r\nwaxwing-operator: test\r\n';
    const type = 'content-type: application/x-www-form-urlencoded\r\ntransfer-encoding: chunked\r\n\r\n';
    const socket = await connected();
    const closed = closing(socket.resume());
    socket.write(head + type);
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`;
    let sent = 0;
    const send = (): void => {
      while (!socket.destroyed && sent < 64 * 1024 * 1024) {
        sent += chunk.length;
        if (!socket.write(chunk)) return;
      }
      socket.end();
    };
    socket.on('drain', send);
    send();
    await closed;
    expect(await rotation(true)).toMatchObject({ dry_run: true });
  });

  it('is refused if it is not HTTP, and the relay keeps serving', async () => {
    for (const line of ['rubbish\n', '{"command":"rotate","arguments":{},"actor":"x"}\n']) {
      expect(await exchange(line)).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(opened.logged()).not.toContain('"level":"error"');
    expect(await listThrough(path)).toBeTypeOf('object');
  });

  it('gets 404 for a path that is not an admin operation, and 405 for a wrong method', async () => {
    const head = 'HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n';
    for (const other of ['/api/v1/remotes/push/e2ee/keys', '/admin/api', '/admin/api/keys/rotate/x']) {
      expect(await exchange(`GET ${other} ${head}`)).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect(await exchange(`GET /admin/api/keys/rotate ${head}`)).toMatch(/^HTTP\/1\.1 405 /);
  });

  it('for a rotation takes effect even if another rotation runs concurrently', async () => {
    const made = await Promise.all([rotation(), rotation()]);
    expect(made).toMatchObject([{ changed: true }, { changed: true }]);
    const { keys } = (await listThrough(path)) as { keys: { state: string }[] };
    expect(keys.map(({ state }) => state)).toEqual(['accepted', 'accepted', 'primary']);
  });
});

describe('a connection to the admin socket', () => {
  it('logs no error when either side closes it without a request', async () => {
    const socket = await connected();
    socket.end();
    await closing(socket.resume());
    await exchange('');
    expect(opened.logged()).not.toContain('"level":"error"');
    expect(opened.logged()).not.toContain('"level":"warn"');
  });

  it('is closed when it is one of 100 idle connections and a new connection opens', async () => {
    const idle = await Promise.all(Array.from({ length: 100 }, connected));
    const closed = Promise.race(idle.map((socket) => closing(socket.resume())));
    expect(await listThrough(path)).toBeTypeOf('object');
    await closed;
    const all = await Promise.all(Array.from({ length: 50 }, () => listThrough(path)));
    expect(all.filter((answer) => typeof answer === 'object')).toHaveLength(50);
    for (const socket of idle) socket.destroy();
  });

  it('is closed after the head timeout if it sends nothing, while other connections are served', async () => {
    await opened.close();
    opened = await adminSocketAt(path, { headTimeoutMilliseconds: 2000, checkEveryMilliseconds: 20 });
    const silent = await connected();
    const closed = closing(silent.resume());
    expect(await listThrough(path)).toBeTypeOf('object');
    await closed;
  });
});

describe('closing the admin socket', () => {
  it.each([
    ['sent nothing', ''],
    ['sent half of a request head', 'GET /admin/api/keys HTTP/1.1\r\nhost'],
    ['already got a response', 'GET /admin/api/nothing HTTP/1.1\r\nhost: localhost\r\n\r\n'],
  ])('does not wait for a connection that %s', async (_name, text) => {
    const socket = await connected();
    const closed = closing(socket.resume());
    socket.write(text);
    // Once the relay has answered this request, it has read the text above.
    await listThrough(path);
    const startedAt = performance.now();
    await opened.close();
    await closed;
    // If the relay did not close the connection, it would stay open until a timeout of at least ten seconds.
    expect(performance.now() - startedAt).toBeLessThan(8000);
    opened = await adminSocketAt(path);
  });
});

describe('a command that is interrupted', () => {
  const whole = 'GET /admin/api/keys HTTP/1.1\r\nhost: localhost\r\nwaxwing-operator: test\r\n\r\n';
  const half =
    'POST /admin/api/keys/rotate HTTP/1.1\r\nhost: localhost\r\nwaxwing-operator: test\r\ncontent-length: 100\r\n\r\ndry';

  it.each([
    ['before it has sent its whole request', half],
    ['before it gets its response', whole],
  ])('%s leaves the relay serving, and logs no error', async (_when, text) => {
    for (let round = 0; round < 20; round += 1) {
      const socket = (await connected()).pause();
      await new Promise<void>((resolve) => socket.write(text, () => resolve()));
      // In every other round, the relay has read the text before the client disconnects.
      if (round % 2 === 0) await listThrough(path);
      socket.destroy();
      expect(await listThrough(path)).toBeTypeOf('object');
    }
    expect(opened.logged()).not.toContain('"level":"error"');
    const { ring } = await opened.keeper.read();
    expect(ring.bouncerKeys).toHaveLength(1);
  });
});

describe('a command whose relay fails', () => {
  const wentAway = 'The relay disconnected before it answered';

  async function standIn(server: ReturnType<typeof createServer>): Promise<string> {
    const other = join(freshFolder(), 'relay.sock');
    await new Promise<void>((resolve) => server.listen(other, resolve));
    chmodSync(other, 0o600);
    return other;
  }

  it('reports that the relay disconnected before it read the request', async () => {
    const server = createServer({ pauseOnConnect: true }, (socket) => socket.destroy());
    const other = await standIn(server);
    for (let round = 0; round < 20; round += 1) {
      await expect(listThrough(other)).rejects.toThrow(wentAway);
    }
    await new Promise((resolve) => server.close(resolve));
  });

  it('stops reading a response of more than a megabyte', async () => {
    let sent = 0;
    const server = createHttpServer((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024, ' ');
      const send = (): void => {
        while (!response.destroyed && sent < 64 * 1024 * 1024) {
          sent += chunk.length;
          if (!response.write(chunk)) return;
        }
        response.end('{}');
      };
      response.on('drain', send);
      send();
    });
    const other = await standIn(server);
    await expect(listThrough(other)).rejects.toThrow(wentAway);
    expect(sent).toBeLessThan(8 * 1024 * 1024);
    await new Promise((resolve) => server.close(resolve));
  });

  it.each([
    [
      500,
      '{"result":"error","msg":"x","code":"INTERNAL_SERVER_ERROR"}',
      'failed to run the command: see its log',
    ],
    [
      503,
      '{"msg":"Service temporarily unavailable"}',
      'cannot run the command now (Service temporarily unavailable)',
    ],
    [404, '{"msg":"No such operation"}', 'does not know this command: restart it'],
    [405, '{"msg":"Method not allowed"}', 'does not know this command: restart it'],
    [408, '{"msg":"The request did not arrive in time"}', wentAway],
    [400, '{"msg":"Key 1 is the primary key: rotate first."}', 'Key 1 is the primary key: rotate first.'],
    [200, '{"result":"success","msg":""}', 'does not know this command: restart it'],
    [200, 'rubbish', wentAway],
    [200, '[]', wentAway],
  ])('explains the response %i %s in one sentence', async (status, body, sentence) => {
    const server = createHttpServer((_request, response) => response.writeHead(status).end(body));
    const other = await standIn(server);
    await expect(listThrough(other)).rejects.toThrow(sentence);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
