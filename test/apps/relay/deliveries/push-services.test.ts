import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HostBreaker } from '#relay/deliveries/vendors/webpush/host-breaker.js';
import type { WebPushSender } from '#relay/deliveries/vendors/webpush/sender.js';
import { CredentialStore } from '#vendors/credentials/vendor-credentials.js';
import { deliveryTo, type SenderUnderTestOptions, send, senderUnderTest } from './web-push-sender.js';

const toClose: (() => unknown)[] = [];
let dir: string;
let tls: { certificate: string; privateKey: string; ca: string };
/** Target of redirects. Counts its connections. */
let listener: Server;
let port: number;
let dialled = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-push-services-'));
  ({ tls } = (await CredentialStore.open(dir, '127.0.0.1')).credentials);
  listener = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  ({ port } = listener.address() as AddressInfo);
});
afterEach(async () => {
  for (const close of toClose.splice(0)) await close();
  dialled = 0;
});
afterAll(() => {
  listener.close();
  rmSync(dir, { recursive: true });
});

function newSender(options: SenderUnderTestOptions): WebPushSender {
  const sender = senderUnderTest(options);
  toClose.push(() => sender.close(0));
  return sender;
}

describe('a push service that misbehaves', () => {
  type Behavior = (socket: Socket) => void;

  /** Starts a TLS server on this machine, and a sender that may connect to it. */
  async function serve(behave: Behavior, timeoutMilliseconds = 300) {
    let connections = 0;
    const server = createTlsServer({ cert: tls.certificate, key: tls.privateKey }, (socket) => {
      connections += 1;
      socket.on('error', () => undefined);
      behave(socket);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port: own } = server.address() as AddressInfo;
    const sockets = new Set<Socket>();
    server.on('connection', (socket) => sockets.add(socket));
    toClose.unshift(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const sender = newSender({
      ca: tls.ca,
      privateHosts: new Set([`127.0.0.1:${own}`]),
      timeoutMilliseconds,
    });
    return { sender, endpoint: `https://127.0.0.1:${own}/a`, connections: () => connections };
  }

  const answer = (text: string): Behavior => {
    return (socket) => socket.once('data', () => socket.end(text));
  };

  it.each([
    ['never answers', () => undefined, 'TIMED_OUT'],
    [
      'sends its headers byte by byte',
      (socket) => {
        const timer = setInterval(() => socket.write('x'), 20);
        socket.write('HTTP/1.1 201 Created\r\nx-slow: ');
        socket.once('close', () => clearInterval(timer));
      },
      'TIMED_OUT',
    ],
    ['closes the connection', (socket) => socket.destroy(), 'BROKEN_OFF'],
    ['does not speak HTTP', answer('220 mail.example ESMTP\r\n'), 'BROKEN_OFF'],
    [
      'sends endless headers',
      (socket) => {
        const line = `x-long: ${'x'.repeat(1000)}\r\n`;
        socket.write('HTTP/1.1 201 Created\r\n');
        const timer = setInterval(() => socket.write(line.repeat(10)), 5);
        socket.once('close', () => clearInterval(timer));
      },
      'BROKEN_OFF',
    ],
  ] as [string, Behavior, string][])(
    'does not delay the relay for long if it %s',
    async (_what, behave, why) => {
      const { sender, endpoint } = await serve(behave);
      const begun = Date.now();
      await expect(send(sender, endpoint)).resolves.toEqual({ kind: 'unanswered', why });
      expect(Date.now() - begun).toBeLessThan(5000);
    },
  );

  const trickle: Behavior = (socket) => {
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
    socket.once('close', () => clearInterval(timer));
  };
  const cut: Behavior = (socket) => socket.destroy();
  it.each([
    ['201 Created', 'that arrives byte by byte', trickle, { kind: 'accepted' }],
    ['201 Created', 'that breaks off', cut, { kind: 'accepted' }],
    ['410 Gone', 'that arrives byte by byte', trickle, { reason: 'SUBSCRIPTION_GONE' }],
    ['410 Gone', 'that breaks off', cut, { reason: 'SUBSCRIPTION_GONE' }],
  ] as [string, string, Behavior, object][])(
    'gets the outcome of its status for %s with a body %s, but is paused after three such responses',
    async (status, _how, sendBody, judged) => {
      let requests = 0;
      const { sender, endpoint } = await serve((socket) =>
        socket.once('data', () => {
          requests += 1;
          socket.write(`HTTP/1.1 ${status}\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n`);
          setTimeout(() => sendBody(socket), 20);
        }),
      );
      for (let tries = 1; tries <= 3; tries += 1) {
        const begun = Date.now();
        await expect(send(sender, endpoint)).resolves.toMatchObject(judged);
        expect(Date.now() - begun).toBeLessThan(5000);
      }
      await expect(send(sender, endpoint)).resolves.toEqual({ kind: 'unanswered', why: 'OVERLOADED' });
      expect(requests).toBe(3);
    },
  );

  it('is read for only 16 KiB if it sends an endless body', async () => {
    let sent = 0;
    const { sender, endpoint } = await serve((socket) => {
      const chunk = 'x'.repeat(4096);
      socket.write('HTTP/1.1 410 Gone\r\ntransfer-encoding: chunked\r\n\r\n');
      const timer = setInterval(() => {
        sent += chunk.length;
        socket.write(`1000\r\n${chunk}\r\n`);
      }, 1);
      socket.once('close', () => clearInterval(timer));
    }, 10_000);
    await expect(send(sender, endpoint)).resolves.toMatchObject({ reason: 'SUBSCRIPTION_GONE' });
    expect(sent).toBeLessThan(1024 * 1024);
  });

  it.each([301, 302, 303, 307, 308])(
    'is not followed if it redirects with %i to an internal address',
    async (status) => {
      const target = `https://localhost:${port}/inside`;
      const { sender, endpoint, connections } = await serve(
        answer(`HTTP/1.1 ${status} Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`),
      );
      await expect(send(sender, endpoint)).resolves.toMatchObject({ reason: 'UNEXPECTED_ANSWER' });
      expect([connections(), dialled]).toEqual([1, 0]);
    },
  );

  it('gets no data if its certificate is not trusted', async () => {
    const seen: string[] = [];
    const { sender, endpoint } = await serve((socket) =>
      socket.on('data', (data) => seen.push(String(data))),
    );
    const other = newSender({ privateHosts: new Set([new URL(endpoint).host]) });
    await expect(send(other, endpoint)).resolves.toEqual({ kind: 'unanswered', why: 'NOT_CONNECTED' });
    expect(seen).toEqual([]);
    void sender;
  });

  it('is paused after three requests without a response, then probed with one request', async () => {
    let now = Date.now();
    const { endpoint, connections } = await serve((socket) => socket.destroy());
    const sender = newSender({
      ca: tls.ca,
      privateHosts: new Set([new URL(endpoint).host]),
      clock: () => now,
    });
    const later = { environment: 'production', notAfter: now + 3_600_000 } as const;
    const why = async () => {
      const result = await sender.send(deliveryTo(endpoint), later);
      return result.kind === 'unanswered' ? result.why : result.kind;
    };
    for (let tries = 0; tries < 3; tries += 1) expect(await why()).toBe('BROKEN_OFF');
    expect(await why()).toBe('OVERLOADED');
    expect(connections()).toBe(3);
    now += 11_000;
    expect((await Promise.all([why(), why(), why()])).sort()).toEqual([
      'BROKEN_OFF',
      'OVERLOADED',
      'OVERLOADED',
    ]);
    expect(connections()).toBe(4);
  });

  it('is probed after ten seconds even if many requests were in flight when it failed', () => {
    let now = 0;
    const breaker = new HostBreaker(() => now);
    const inFlight = Array.from({ length: 64 }, () => breaker.admit());
    for (const isAdmitted of inFlight) if (isAdmitted) breaker.settle(false);
    expect(breaker.refuses).toBe(true);
    now += 11_000;
    expect(breaker.refuses).toBe(false);
    expect([breaker.admit(), breaker.admit()]).toEqual([true, false]);
    breaker.settle(false);
    now += 11_000;
    expect(breaker.refuses, 'after the failed probe').toBe(true);
    now += 11_000;
    expect(breaker.admit()).toBe(true);
    breaker.settle(true);
    expect([breaker.isOpen, breaker.isProven]).toEqual([false, true]);
  });

  it('is not blamed for a missing VAPID key', async () => {
    const { endpoint, connections } = await serve((socket) => socket.destroy());
    const privateHosts = new Set([new URL(endpoint).host]);
    const signer = { publicKeyOf: () => undefined, sign: () => undefined };
    const sender = newSender({ ca: tls.ca, privateHosts, signer });
    for (let tries = 0; tries < 4; tries += 1) {
      await expect(send(sender, endpoint)).rejects.toThrow('the key ring has no VAPID key for web');
    }
    expect(connections()).toBe(0);
  });

  it('gets few concurrent requests if it never answers, and does not delay other push services', async () => {
    const slow = await serve(() => undefined, 1000);
    const quick = await serve((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n'));
    });
    const sender = newSender({
      ca: tls.ca,
      privateHosts: new Set([new URL(slow.endpoint).host, new URL(quick.endpoint).host]),
      timeoutMilliseconds: 1000,
    });
    const held = Array.from({ length: 300 }, () => send(sender, slow.endpoint));
    await expect(send(sender, quick.endpoint)).resolves.toEqual({ kind: 'accepted' });
    const answers = await Promise.all(held);
    expect(slow.connections()).toBeLessThanOrEqual(16);
    const overloaded = answers.filter((given) => given.kind === 'unanswered' && given.why === 'OVERLOADED');
    expect(overloaded.length).toBeGreaterThan(280);
  });

  it('gets a burst of notifications immediately if it is new to the relay and answers', async () => {
    const quick = await serve((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n'));
    }, 30_000);
    const answers = await Promise.all(Array.from({ length: 500 }, () => send(quick.sender, quick.endpoint)));
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(500);
    expect(quick.connections()).toBeLessThanOrEqual(64);
  });

  it("cannot use up other push services' slots with many host names", async () => {
    const quick = await serve((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n'));
    });
    const slow = await serve(() => undefined);
    const { port: slowPort } = new URL(slow.endpoint);
    const names = Array.from({ length: 300 }, (_, index) => `host-${index}.example:${slowPort}`);
    // These names never resolve, as with a slow name server.
    const sender = newSender({
      ca: tls.ca,
      hosts: [...names, new URL(quick.endpoint).host],
      privateHosts: new Set([new URL(quick.endpoint).host]),
      resolve: () => new Promise(() => undefined),
      timeoutMilliseconds: 60_000,
    });
    await expect(send(sender, quick.endpoint)).resolves.toEqual({ kind: 'accepted' });
    const held = new Set(names.map((name) => send(sender, `https://${name}/a`)));
    const all = [...held];
    for (const one of all) void one.then(() => held.delete(one));
    await expect(send(sender, quick.endpoint)).resolves.toEqual({ kind: 'accepted' });
    // 32 of this server's requests are in flight and 32 wait. The others were refused immediately.
    expect(held.size).toBe(64);
    await sender.close(0);
    expect((await Promise.all(all)).every(({ kind }) => kind === 'unanswered')).toBe(true);
  });
});
