import { once } from 'node:events';
import { METHODS } from 'node:http';
import type { HttpLimits } from '@waxwing/service/http-settings';
import { afterEach, describe, expect, it } from 'vitest';
import fc from '../../../../support/fast-check.js';
import { authorization, ListeningApp, type RawConnection, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');

async function start(limits: Partial<HttpLimits> = {}): Promise<void> {
  app = await ListeningApp.start(limits);
}

afterEach(() => app.close());

/** Returns the responses on a closed connection, each with its status and JSON body. */
function answersOf({ text }: RawConnection): [number, Record<string, unknown>][] {
  return text
    .split(/^(?=HTTP\/1\.1 )/m)
    .filter((answer) => answer !== '')
    .map((answer) => {
      const end = answer.indexOf('\r\n\r\n');
      const head = answer.slice(0, end);
      const body = answer.slice(end + 4);
      expect(head).toContain('application/json; charset=utf-8');
      expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
      return [Number(head.slice(9, 12)), JSON.parse(body) as Record<string, unknown>];
    });
}

async function send(text: string | Buffer): Promise<[number, Record<string, unknown>][]> {
  const connection = await app.connect();
  connection.socket.write(text);
  await connection.closed;
  return answersOf(connection);
}

const refusal = (status: number, code: string, msg: unknown = expect.any(String)) => [
  [status, { result: 'error', msg, code }],
];
const malformed = 'The request is not valid HTTP/1.1';

describe('an invalid request gets a refusal in the usual format:', () => {
  it.each([
    ['an unknown method', 'NONSENSE / HTTP/1.1\r\nhost: x\r\n\r\n'],
    ['no method', '\0\0\0\0\r\n\r\n'],
    ['a TLS handshake', Buffer.from('16030100c8010000c40303', 'hex')],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', 'GET / HTTP/9.9\r\nhost: x\r\n\r\n'],
    ['two lengths', request('POST /anybody', 'content-length: 1\r\ntransfer-encoding: chunked\r\n')],
    ['a transfer coding other than chunked', request('POST /anybody', 'transfer-encoding: gzip\r\n')],
    ['a length that is not a number', request('POST /anybody', 'content-length: one\r\n')],
    ['a field without a colon', request('GET /open', 'nonsense\r\n')],
    ['a field with a control character', request('GET /open', 'a: \u0001\r\n')],
    ['a path with unescaped bytes', request('GET /ж')],
    ['a chunk without a size', request('POST /anybody', 'transfer-encoding: chunked\r\n', 'zz\r\n')],
  ])('%s', async (_what, text) => {
    await start();
    expect(await send(text)).toEqual(refusal(400, 'BAD_REQUEST', malformed));
  });

  it('a request without a Host header', async () => {
    await start();
    const answers = await send('GET /open HTTP/1.1\r\nconnection: close\r\n\r\n');
    expect(answers).toEqual(refusal(400, 'BAD_REQUEST', 'A request must have a Host header'));
    expect((await send('GET /open HTTP/1.0\r\n\r\n'))[0]?.[0]).toBe(200);
  });

  it.each([
    ['the same name', 'host: x\r\nhost: x\r\n'],
    ['different names', 'host: x\r\nHOST: y\r\n'],
    ['an empty name', 'host:\r\nhost: x\r\n'],
  ])('a request with two Host headers: %s', async (_what, fields) => {
    await start();
    for (const line of ['/open HTTP/1.1', '/open HTTP/1.0', '/nowhere HTTP/1.1', '/health/live HTTP/1.1']) {
      const answers = await send(`GET ${line}\r\n${fields}connection: close\r\n\r\n`);
      expect(answers).toEqual(refusal(400, 'BAD_REQUEST', 'A request must have only one Host header'));
    }
    expect(app.handled).toBe(0);
  });

  it.each(['a b', 'a/b', 'user@x', 'http://x', 'x, y', 'x:y', '[x', 'x?', '<x>'])(
    'a request with an invalid host: %s',
    async (host) => {
      await start();
      const answers = await send(`GET /open HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
      const message = 'The Host header must be a host name or address, with a port or without';
      expect(answers).toEqual(refusal(400, 'BAD_REQUEST', message));
    },
  );

  it.each([
    '',
    'x',
    'a.example:443',
    'my_host:',
    '127.0.0.1:80',
    '[::1]:9',
    '[fe80::1%25en0]',
    'x%41',
    'xn--p1ai',
  ])('a request with the valid host %j is served instead', async (host) => {
    await start();
    const answers = await send(`GET /open HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`);
    expect(answers[0]?.[0]).toBe(200);
  });

  it('a CONNECT request, or a method without an operation', async () => {
    await start();
    expect(await send('CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n')).toEqual(
      refusal(405, 'METHOD_NOT_ALLOWED'),
    );
    for (const method of METHODS.filter((each) => each !== 'CONNECT')) {
      const [answer] = await send(request(`${method} /nowhere`, 'connection: close\r\n')).catch(() => []);
      if (method !== 'HEAD')
        expect([method, answer?.[0], answer?.[1].code]).toEqual([method, 404, 'NOT_FOUND']);
    }
    expect(await send(request('OPTIONS *', 'connection: close\r\n'))).toEqual(refusal(404, 'NOT_FOUND'));
  });

  it('a CONNECT request whose client resets the connection, without an uncaught error', async () => {
    await start();
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    process.on('uncaughtExceptionMonitor', note);
    const { socket } = await app.connect();
    socket.write('CONNECT x:443 HTTP/1.1\r\nhost: x:443\r\n\r\n');
    await once(socket, 'data');
    socket.resetAndDestroy();
    await expect.poll(() => app.counts()).toEqual([0, 0, 0]);
    process.off('uncaughtExceptionMonitor', note);
    expect(errors).toEqual([]);
  });

  it.each([
    ['a long path', request(`GET /${'x'.repeat(17_000)}`)],
    ['a long field', request('GET /open', `a: ${'x'.repeat(17_000)}\r\n`)],
    ['many fields', request('GET /open', 'a: 1\r\n'.repeat(101))],
  ])('a head that is too large because of %s', async (_what, text) => {
    await start();
    expect(await send(text)).toEqual(refusal(431, 'REQUEST_HEADERS_TOO_LARGE'));
    await expect.poll(() => app.counts()).toEqual([0, 0, 0]);
  });

  it('a chunk with endless extensions', async () => {
    await start();
    const text = request('POST /anybody', 'transfer-encoding: chunked\r\n', `1;${'x'.repeat(17_000)}`);
    expect(await send(text)).toEqual(refusal(413, 'PAYLOAD_TOO_LARGE'));
  });

  it.each([
    ['nothing', ''],
    ['a partial head', 'GET /open HTTP/1.1\r\nhost'],
    ['a partial body', request('POST /body', `${ada}content-length: 9\r\n`, 'half')],
  ])('%s, in time', async (_what, text) => {
    await start({ headTimeoutMilliseconds: 60, requestTimeoutMilliseconds: 60 });
    expect(await send(text)).toEqual(refusal(408, 'REQUEST_TIMEOUT'));
  });

  it('any other input', async () => {
    await start({ headTimeoutMilliseconds: 60, requestTimeoutMilliseconds: 60 });
    const piece = fc.constantFrom(
      ...['GET ', 'POST ', 'HEAD', '/open', '/anybody', '*', ' HTTP/1.1', ' HTTP/1.0', '\r\n', '\n', '\r'],
      ...[
        'host: x',
        'host',
        ':',
        'content-length: 3',
        'transfer-encoding: chunked',
        '0',
        '5',
        'a',
        '\0',
        'ж',
      ],
      ...[
        'expect: 100-continue',
        'upgrade: websocket',
        'connection: upgrade',
        'connection: close',
        '\r\n\r\n',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        const connection = await app.connect();
        connection.socket.end(pieces.join(''));
        await connection.closed;
        const text = connection.text.replace('HTTP/1.1 100 Continue\r\n\r\n', '');
        if (text.startsWith('HTTP/1.1 2')) return;
        // Checks only the first body, because the last response may be to a HEAD request.
        for (const body of text.split('\r\n\r\n').slice(1, 2)) {
          if (body !== '' && !pieces.includes('HEAD'))
            expect(body).toMatch(/^\{"result":"(?:error|success)"/);
        }
        if (text !== '' && !pieces.includes('HEAD')) expect(text).toContain('\r\n\r\n{');
      }),
      { numRuns: 150 },
    );
  });
});

describe('the response to an invalid request', () => {
  it('reaches a client that sends more than the server reads', async () => {
    await start();
    const connection = await app.connect();
    for (let count = 0; count < 200; count += 1)
      connection.send(count === 0 ? request(`GET /${'x'.repeat(100_000)}`) : 'x'.repeat(100_000));
    connection.socket.end();
    await connection.closed;
    expect(answersOf(connection)).toEqual(refusal(431, 'REQUEST_HEADERS_TOO_LARGE'));
  });

  it('is not mistaken for the response to the previous request', async () => {
    await start();
    const connection = await app.connect();
    connection.send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(1);
    connection.send('nonsense\r\n\r\n');
    await connection.closed;
    expect(connection.text).toBe('');
  });

  it('is the last response on the connection, which ends even if the client continues', async () => {
    await start({ unreadBodyTimeoutMilliseconds: 60 });
    const connection = await app.connect();
    const socket = connection.socket as RawConnection['socket'] & { allowHalfOpen: boolean };
    socket.allowHalfOpen = true;
    connection.send('nonsense\r\n\r\n');
    await expect.poll(() => connection.text).toContain(malformed);
    connection.send(request('GET /open'));
    await expect.poll(() => app.counts()).toEqual([0, 0, 0]);
    expect(connection.statuses).toEqual([400]);
    expect(app.handled).toBe(0);
  });
});
