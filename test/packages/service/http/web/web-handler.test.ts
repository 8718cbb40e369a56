import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHttpApp, createWebHandler, mountInFastify, toNodeListener } from '@waxwing/service/http';
import { Metrics } from '@waxwing/service/metrics';
import fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryLog } from '../../../../support/memory-log.js';
import { testOperation } from '../../../../support/test-operation.js';
import { RawConnection } from '../listening-app.js';
import {
  answerAt,
  answeredByHost,
  authorization,
  form,
  operations,
  path,
  requests,
  seen,
  thing,
} from './compared-requests.js';

const logged = createMemoryLog();
const closing = new AbortController();
const handler = createWebHandler({ operations, log: logged.log, closing: closing.signal });

function get(query: string, signal?: AbortSignal) {
  return handler(new Request(`http://host${query}`, signal === undefined ? {} : { signal }));
}

async function listen(listener: RequestListener): Promise<Server> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

describe('operations mounted in a host', () => {
  let app: FastifyInstance;
  let plain: Server;
  let host: FastifyInstance;
  const listener = toNodeListener(handler, logged.log);
  /** Calls to the host's hooks with their URLs, which show which hooks see requests to our routes. */
  const hooked: string[] = [];

  beforeAll(async () => {
    app = await createHttpApp({ log: logged.log, metrics: new Metrics(), operations, readiness: {} });
    await app.listen({ port: 0, host: '127.0.0.1' });
    plain = await listen(listener);
    host = fastify();
    host.addHook('onRequest', async ({ url }) => void hooked.push(`onRequest ${url}`));
    host.addHook('preHandler', async ({ url }) => void hooked.push(`preHandler ${url}`));
    host.addHook('onResponse', async ({ url }) => void hooked.push(`onResponse ${url}`));
    host.post('/own', async ({ body }) => ({ own: body }));
    await host.register(async (scope) => mountInFastify(scope, operations, listener));
    await host.listen({ port: 0, host: '127.0.0.1' });
  });
  afterAll(async () => {
    plain.close();
    await Promise.all([app.close(), host.close(), once(plain, 'close')]);
  });

  it.each(Object.entries(requests))('respond to %s like our HTTP app', async (name, asked) => {
    const expected = await answerAt(app.server, asked);
    expect(await answerAt(plain, asked)).toEqual(expected);
    if (!answeredByHost.includes(name)) expect(await answerAt(host.server, asked)).toEqual(expected);
  });

  it('do not affect the parsers, routes and later hooks of a Fastify host', async () => {
    hooked.length = 0;
    const body = '{"a":1}';
    const own = await host.inject({
      method: 'POST',
      url: '/own',
      headers: { 'content-type': 'application/json' },
      body,
    });
    expect(own.json()).toEqual({ own: { a: 1 } });
    expect(
      (await host.inject({ method: 'POST', url: '/own', headers: { 'content-type': form }, body }))
        .statusCode,
    ).toBe(415);
    expect((await host.inject('/api/v1/nothing')).json()).toMatchObject({ error: 'Not Found' });
    hooked.length = 0;
    await answerAt(host.server, thing('name=a'));
    await expect.poll(() => hooked).toEqual([`onRequest ${path}`, `onResponse ${path}`]);
  });

  it('call the next middleware for other paths, and for requests that the Fetch API cannot represent', async () => {
    const server = await listen((request, response) =>
      listener(request, response, () => void response.end(`next ${request.method}`)),
    );
    try {
      expect((await answerAt(server, { path: '/other' })).text).toBe('next GET');
      expect((await answerAt(server, { method: 'TRACE', path })).text).toBe('next TRACE');
      expect((await answerAt(server, { path: '//%' })).text).toBe('next GET');
      expect((await answerAt(server, thing('name=a'))).status).toBe(200);
    } finally {
      server.close();
    }
    expect((await answerAt(plain, { method: 'TRACE', path })).status).toBe(400);
  });

  it('report where to mount them if another middleware has read the body', async () => {
    const server = await listen(async (request, response) => {
      for await (const chunk of request) seen.push(chunk);
      listener(request, response);
    });
    try {
      expect((await answerAt(server, thing('name=a'))).status).toBe(500);
      expect(logged.text()).toContain('mount them before body parsers');
    } finally {
      server.close();
    }
  });

  it('refuse a body of unknown length at the limit, and keep the connection', async () => {
    const connection = await RawConnection.open((plain.address() as AddressInfo).port);
    const head = `host: x\r\nauthorization: ${authorization}\r\ncontent-type: ${form}\r\n`;
    connection.send(`POST ${path} HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n`);
    for (let sent = 0; sent < 2; sent += 1) connection.send(`200\r\n${'a'.repeat(512)}\r\n`);
    await expect.poll(() => connection.statuses).toEqual([413]);
    // The rest of the body is discarded, regardless of its size.
    for (let sent = 0; sent < 500; sent += 1) connection.send(`1000\r\n${'a'.repeat(4096)}\r\n`);
    connection.send(`0\r\n\r\nPOST ${path} HTTP/1.1\r\n${head}content-length: 6\r\n\r\nname=a`);
    await expect.poll(() => connection.statuses).toEqual([413, 200]);
    connection.socket.destroy();
  });

  it('abort the signal when the client disconnects, without an error in the log', async () => {
    seen.length = 0;
    const before = logged.lines().length;
    const gone = new AbortController();
    const { port } = plain.address() as AddressInfo;
    const asked = fetch(`http://127.0.0.1:${port}/api/v1/wait?as=a`, { signal: gone.signal });
    await expect.poll(() => seen).toEqual(['waiting']);
    gone.abort();
    await expect(asked).rejects.toThrow('aborted');
    await expect.poll(() => seen).toEqual(['waiting', 'aborted']);
    expect(logged.lines().slice(before)).toEqual([]);
  });
});

describe('a web handler', () => {
  it('returns undefined for other paths, so that the host handles them', async () => {
    expect(await get('/other')).toBeUndefined();
  });

  it('authenticates before it reads any of the body', async () => {
    let pulled = false;
    const body = new ReadableStream(
      {
        pull() {
          pulled = true;
        },
      },
      { highWaterMark: 0 },
    );
    const sent = { method: 'POST', body, duplex: 'half' };
    const asked = new Request(`http://host${path}`, sent);
    expect((await handler(asked))?.status).toBe(401);
    expect(pulled).toBe(false);
  });

  it('ends a long poll for a newer poll of the same actor and lane, and all polls when it closes', async () => {
    seen.length = 0;
    const first = get('/api/v1/wait?as=a');
    await expect.poll(() => seen).toEqual(['waiting']);
    const second = get('/api/v1/wait?as=a');
    expect((await first)?.status).toBe(200);
    const other = get('/api/v1/wait?as=b');
    await expect.poll(() => [...seen].sort()).toEqual(['aborted', 'waiting', 'waiting', 'waiting']);
    closing.abort();
    expect([(await second)?.status, (await other)?.status]).toEqual([200, 200]);
  });

  it('logs the cause of an unexpected error, and hides it from the client', async () => {
    const answer = await get('/api/v1/broken');
    expect(await answer?.text()).not.toContain('fire');
    expect(logged.text()).toContain('the disk is on fire');
  });

  it('refuses operations that take a file', () => {
    const upload = testOperation({ method: 'POST', path: '/up', body: 'file', handle: async () => ({}) });
    expect(() => createWebHandler({ operations: [upload], log: logged.log })).toThrow('accepts a file');
  });
});
