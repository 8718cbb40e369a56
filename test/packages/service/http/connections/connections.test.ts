import { AddressRanges, type HttpLimits } from '@waxwing/service/http-settings';
import { afterEach, describe, expect, it } from 'vitest';
import { authorization, ListeningApp, type RawConnection, request } from '../listening-app.js';

let app: ListeningApp;
const ada = authorization('ada');
const bob = authorization('bob');
const health = request('GET /health/live', 'connection: close\r\n');
const nothing = [0, 0, 0];

async function start(limits: Partial<HttpLimits> = {}): Promise<void> {
  app = await ListeningApp.start(limits);
}

/** Returns the statuses that a new connection receives. */
async function ask(text: string, localAddress?: string): Promise<number[]> {
  const connection = await app.connect(localAddress);
  connection.send(text.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
  await connection.closed;
  return connection.statuses;
}

async function several(count: number, localAddress?: string): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => app.connect(localAddress)));
}

afterEach(() => app.close());

describe('pipelined requests', () => {
  it('release all slots when their connections close', async () => {
    await start();
    const connections = await several(10);
    for (const connection of connections) connection.send(request('GET /held', ada).repeat(90));
    await expect.poll(() => app.held).toHaveLength(10);
    for (const { socket } of connections) socket.destroy();
    await expect.poll(() => app.counts()).toEqual(nothing);
    expect(app.held.every(({ signal }) => signal.aborted)).toBe(true);
    expect(app.authenticated).toHaveLength(10);
  });

  it('release all slots when a thousand connections disconnect at once', async () => {
    await start();
    const connections = await several(10);
    for (const connection of connections) connection.send(request('GET /open').repeat(1000));
    for (const { closed } of connections) await closed;
    await expect.poll(() => app.counts()).toEqual(nothing);
    expect(await app.metric('waxwing_http_refusals_total', '{reason="pipelining"}')).toBe(10);
  });

  it('release their slots repeatedly, with or without a response', async () => {
    await start({ maximumRequestsInFlight: 100 });
    for (let round = 0; round < 5; round += 1) {
      const answered = await app.connect();
      answered.send(request('GET /held', ada) + request('GET /open').repeat(9));
      await expect.poll(() => app.held).toHaveLength(2 * round + 1);
      app.held.at(-1)?.end();
      await expect.poll(() => answered.statuses).toEqual(Array(10).fill(200));
      const cut = await app.connect();
      cut.send(request('GET /held', ada) + request('GET /open').repeat(9));
      await expect.poll(() => app.held).toHaveLength(2 * round + 2);
      cut.socket.destroy();
      await expect.poll(() => app.held.at(-1)?.signal.aborted).toBe(true);
    }
    expect(await app.metric('waxwing_http_refusals_total', '{reason="pipelining"}')).toBe(0);
  });

  it('are capped at a tenth of the slots across all connections', async () => {
    await start({ maximumRequestsInFlight: 100 });
    const waiting = await app.connect();
    waiting.send(request('GET /held', ada) + request('GET /open').repeat(10));
    await expect.poll(() => app.held).toHaveLength(1);
    const other = await app.connect();
    other.send(request('GET /held', bob) + request('GET /open'));
    await other.closed;
    expect(await app.metric('waxwing_http_refusals_total', '{reason="pipelining"}')).toBe(1);
  });

  it('are capped at a tenth of the body bytes across all connections', async () => {
    await start({ maximumBodyBytesInFlight: 10_000 });
    const post = (bytes: number) => request('POST /open', `content-length: ${bytes}\r\n`);
    const waiting = await app.connect();
    waiting.send(request('GET /held', ada) + post(600));
    await expect.poll(() => app.counts()).toEqual([1, 1, 600]);
    const full = await app.connect();
    full.send(request('GET /held', bob) + post(400));
    await expect.poll(() => app.counts()).toEqual([2, 2, 1000]);
    for (const beyond of [post(1), request('POST /open', 'transfer-encoding: chunked\r\n')]) {
      const other = await app.connect();
      other.send(request('GET /held', bob) + beyond);
      await other.closed;
    }
    expect(await app.metric('waxwing_http_refusals_total', '{reason="pipelining"}')).toBe(2);
    const without = await app.connect();
    without.send(request('GET /held', bob) + request('GET /open'));
    await expect.poll(() => app.counts()).toEqual([3, 3, 1000]);
    for (const { socket } of [waiting, full, without]) socket.destroy();
    await expect.poll(() => app.counts()).toEqual(nothing);
  });

  it('count the bytes of a body that are read ahead, but a single body always fits', async () => {
    await start({ maximumBodyBytesInFlight: 10_000 });
    const connection = await app.connect();
    connection.send(request('GET /held', ada) + request('POST /open', 'content-length: 900000\r\n', 'half'));
    await expect.poll(() => app.counts()).toEqual([1, 1, 65_536]);
    app.held[0]?.end();
    await expect.poll(async () => (await app.counts())[2]).toBe(0);
  });

  it('are refused with more than a hundred header fields, because Node would drop some', async () => {
    await start();
    const tiny = (count: number) => Array.from({ length: count }, (_, index) => `a${index}: 1\r\n`).join('');
    expect(await ask(request('GET /open', tiny(98)))).toEqual([200]);
    // If Node dropped content-length, this body would not count toward the bytes in flight.
    const connection = await app.connect();
    connection.send(request('POST /body', `${ada}${tiny(99)}content-length: 900\r\n`, 'half'));
    await connection.closed;
    expect(connection.statuses).toEqual([431]);
    expect(app.authenticated).toEqual([]);
    // While a request is in flight, a refusal would look like its response, so no refusal is sent.
    const busy = (await app.connect()).send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(1);
    busy.send(request('GET /open', tiny(101)));
    await busy.closed;
    expect(busy.statuses).toEqual([]);
    await expect.poll(() => app.counts()).toEqual(nothing);
  });

  it('are scheduled and counted as usual if they have an unknown Expect header', async () => {
    await start();
    const connection = await app.connect();
    connection.send(request('GET /held', `${ada}expect: the unexpected\r\n`));
    await expect.poll(() => app.held).toHaveLength(1);
    connection.send(request('GET /open', 'expect: the unexpected\r\n').repeat(101));
    await connection.closed;
    expect(await app.metric('waxwing_http_refusals_total', '{reason="pipelining"}')).toBe(1);
  });

  it('are served one at a time, in order', async () => {
    await start();
    const connection = await app.connect();
    connection.send(request('GET /held', ada) + request('GET /open') + request('GET /held', bob));
    await expect.poll(() => app.held).toHaveLength(1);
    expect([app.handled, app.authenticated]).toEqual([0, ['ada']]);
    app.held[0]?.end();
    await expect.poll(() => app.held).toHaveLength(2);
    expect([app.handled, connection.statuses]).toEqual([1, [200, 200]]);
    app.held[1]?.end();
    await expect.poll(() => connection.statuses).toEqual([200, 200, 200]);
    expect(await app.counts()).toEqual([1, 0, 0]);
  });

  it('do not delay other connections', async () => {
    await start({ backlogMilliseconds: 600_000 });
    const connections = await several(11);
    const other = await app.connect();
    for (const connection of connections) connection.send(request('GET /open').repeat(90));
    other.send(request('GET /open'));
    await expect.poll(() => other.text).toContain('"handled":');
    const place = Number(/"handled":(\d+)/.exec(other.text)?.[1]);
    expect(place).toBeLessThan(400);
    for (const connection of connections) await expect.poll(() => connection.statuses).toHaveLength(90);
  });

  it('do not delay other requests even if many clients send them at once', async () => {
    await start({ backlogMilliseconds: 600_000 });
    const crowd = await several(40);
    const other = await app.connect();
    for (const connection of crowd) connection.send(request('GET /held', ada) + request('GET /busy'));
    await expect.poll(() => app.held).toHaveLength(40);
    for (const { end } of app.held) end();
    other.send(request('GET /open'));
    await expect.poll(() => other.text).toContain('"handled":');
    expect(Number(/"handled":(\d+)/.exec(other.text)?.[1])).toBeLessThan(20);
    for (const connection of crowd) await expect.poll(() => connection.statuses).toEqual([200, 200]);
  });
});

describe('unauthenticated clients', () => {
  it('are refused after the headers of a request, without a slot for a half-sent body', async () => {
    await start({ maximumRequestsInFlight: 1, unreadBodyTimeoutMilliseconds: 50 });
    const connections = await several(5);
    for (const connection of connections) {
      connection.send(request('POST /body', `${authorization('x', 'wrong')}content-length: 900\r\n`, 'half'));
    }
    for (const connection of connections) await expect.poll(() => connection.statuses).toEqual([401]);
    expect((await app.counts()).slice(1)).toEqual([0, 0]);
    expect(await ask(request('GET /open'))).toEqual([200]);
    for (const { closed } of connections) await closed;
    await expect.poll(() => app.counts()).toEqual(nothing);
  });

  it('may send the rest of a refused body, and then another request on the same connection', async () => {
    await start();
    const connection = await app.connect();
    connection.send(request('POST /body', 'content-length: 900\r\n', 'x'));
    await expect.poll(() => connection.statuses).toEqual([401]);
    connection.send('x'.repeat(899) + request('GET /open'));
    await expect.poll(() => connection.statuses).toEqual([401, 200]);
  });

  it.each(['POST /nowhere', 'POST /open'])(
    'get the refusal of %s immediately, without sending the body',
    async (line) => {
      await start();
      const connection = await app.connect();
      connection.send(request(line, 'content-type: text/plain\r\ncontent-length: 900\r\n', 'half'));
      await expect.poll(() => connection.statuses).toEqual([line.endsWith('nowhere') ? 404 : 405]);
      expect(await app.counts()).toEqual([1, 0, 0]);
    },
  );

  it('learn nothing about valid bodies', async () => {
    await start();
    const headers = 'content-type: text/plain\r\ncontent-length: 5000\r\n';
    expect(await ask(request('POST /body', headers, 'x'.repeat(5000)))).toEqual([401]);
  });

  it('cannot block other clients with silent connections or partial requests', async () => {
    await start({ maximumConnections: 4 });
    const connections = await several(4);
    connections[1]?.send('GET /open HTTP/1.1\r\n');
    expect(await ask(request('GET /open'))).toEqual([200]);
    await connections[0]?.closed;
    expect(connections.filter(({ socket }) => !socket.destroyed)).toHaveLength(3);
    expect(await app.metric('waxwing_http_refusals_total', '{reason="connections"}')).toBe(1);
  });

  it('get at most the connections for one address, and other addresses still get theirs', async () => {
    await start({ maximumConnectionsPerAddress: 2, trustedProxies: new AddressRanges(['203.0.113.1']) });
    const [first] = await several(2);
    expect(await ask(request('GET /open'))).toEqual([503]);
    expect(await ask(health)).toEqual([200]);
    expect(await ask(request('GET /open'), '127.0.0.2')).toEqual([200]);
    first?.socket.destroy();
    await expect.poll(() => ask(request('GET /open'))).toEqual([200]);
    expect(await app.metric('waxwing_http_refusals_total', '{reason="address"}')).toBeGreaterThan(1);
  });

  it('have surplus connections that do not count toward the limit of their address', async () => {
    const proxies = new AddressRanges(['203.0.113.1']);
    await start({ maximumConnections: 2, maximumConnectionsPerAddress: 2, trustedProxies: proxies });
    const busy = await several(2, '127.0.0.2');
    for (const connection of busy) connection.send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(2);
    expect(await ask(request('GET /open'), '127.0.0.3')).toEqual([503]);
    expect(await ask(health, '127.0.0.3')).toEqual([200]);
    for (const { socket } of busy) socket.destroy();
    await expect.poll(() => app.counts()).toEqual(nothing);
    await several(2, '127.0.0.3');
    expect(await ask(request('GET /open'), '127.0.0.3')).toEqual([503]);
  });

  it('have no limit per private address if no proxy is configured, which is logged once', async () => {
    await start({ maximumConnectionsPerAddress: 1 });
    await several(3);
    expect(await ask(request('GET /open'))).toEqual([200]);
    const warnings = app.logged.lines().filter(({ level }) => level === 'warn');
    expect(warnings).toMatchObject([{ msg: expect.stringContaining(' TEST_TRUSTED_PROXIES') }]);
  });

  it('are distinguished by their forwarded address behind a trusted proxy', async () => {
    await start({ maximumConnectionsPerAddress: 1, trustedProxies: new AddressRanges(['127.0.0.0/8']) });
    const from = (address: string) => `x-forwarded-for: 198.51.100.9, ${address}, 127.0.0.7\r\n`;
    const connection = await app.connect();
    connection.send(request('GET /held', ada + from('2001:db8:1:2::3')));
    await expect.poll(() => app.held).toHaveLength(1);
    expect(await ask(request('GET /open', from('2001:db8:1:2:ffff::4')))).toEqual([503]);
    expect(await ask(request('GET /open', from('2001:db8:1:3::3')))).toEqual([200]);
    expect(await ask(request('GET /health/ready', from('2001:db8:1:2::3')))).toEqual([200]);
    app.held[0]?.end();
    await expect.poll(() => ask(request('GET /open', from('2001:db8:1:2::3')))).toEqual([200]);
  });
});

describe('health', () => {
  it('is reported when every connection and slot is taken, unlike all other requests', async () => {
    await start({ maximumConnections: 2, maximumRequestsInFlight: 2 });
    for (const connection of await several(2)) connection.send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(2);
    expect(await ask(health)).toEqual([200]);
    expect(await ask(request('GET /health/ready'))).toEqual([200]);
    expect(await ask(request('GET /health/live?from=probe'))).toEqual([200]);
    expect(await ask(request('GET /health/live;open'))).toEqual([503]);
    expect(await ask(request('GET /open'))).toEqual([503]);
    app.held[0]?.end();
    await expect.poll(() => ask(request('GET /open'))).toEqual([200]);
  });

  it('is reported when more silent connections than the reserve are open', async () => {
    await start({ maximumConnections: 1 });
    const [busy] = await several(1);
    busy?.send(request('GET /held', ada));
    await expect.poll(() => app.held).toHaveLength(1);
    const silent = await several(150);
    expect(await ask(health)).toEqual([200]);
    await expect.poll(() => silent.filter(({ socket }) => !socket.destroyed).length).toBeLessThan(100);
  });
});
