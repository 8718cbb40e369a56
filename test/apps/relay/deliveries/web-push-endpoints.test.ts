import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkEndpoint } from '#relay/deliveries/vendors/webpush/endpoint-rules.js';
import type { WebPushSender } from '#relay/deliveries/vendors/webpush/sender.js';
import { CredentialStore } from '#vendors/credentials/vendor-credentials.js';
import { type SenderUnderTestOptions, send, senderUnderTest } from './web-push-sender.js';

const refused = { kind: 'unanswered', why: 'ENDPOINT_REFUSED' };
const everyPort = { hosts: '*', privateHosts: new Set<string>() } as const;
const toClose: (() => unknown)[] = [];
let dir: string;
let tls: { certificate: string; privateKey: string; ca: string };
/** Listens on all addresses of this machine, and counts connections. */
let listener: Server;
let port: number;
let dialled = 0;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'waxwing-endpoints-'));
  ({ tls } = (await CredentialStore.open(dir, '127.0.0.1')).credentials);
  listener = createServer((socket) => {
    dialled += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => listener.listen(0, '::', resolve));
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

/** Names of public push services that point into private networks, by address. */
const hostileAddresses = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '239.255.255.250',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0:127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b::10.0.0.1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '2002:0a00:0001::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fd12:3456:789a::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
];

/** Endpoints with an address, a port, credentials or a form that the relay refuses without a look-up. */
const hostileEndpoints = [
  'https://127.0.0.1/a',
  'https://2130706433/a',
  'https://0x7f000001/a',
  'https://017700000001/a',
  'https://0177.0.0.1/a',
  'https://0x7f.0.0.1/a',
  'https://127.1/a',
  'https://127.0.1/a',
  'https://0/a',
  'https://10.1/a',
  'https://3232235777/a',
  'https://0xa9fea9fe/a',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::1]/a',
  'https://[::]/a',
  'https://[::ffff:127.0.0.1]/a',
  'https://[::ffff:7f00:1]/a',
  'https://[0:0:0:0:0:ffff:7f00:1]/a',
  'https://[64:ff9b::7f00:1]/a',
  'https://[2002:7f00:1::]/a',
  'https://[fd00::1]/a',
  'https://[fe80::1]/a',
  'https://[fe80::1%25lo]/a',
  'https://１２７.０.０.１/a',
  'https://127。0。0。1/a',
  'https://127.0.0.1./a',
  'https://localhost./a',
  'https://push.example:80/a',
  'https://push.example:22/a',
  'https://push.example:6379/a',
  'https://push.example:65536/a',
  'https://user:password@push.example/a',
  'https://push.example@127.0.0.1/a',
  'https://127.0.0.1\\@push.example/a',
  'http://push.example/a',
  'ftp://push.example/a',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'unix:/run/relay.sock',
  'data:text/plain,a',
  '//push.example/a',
  'https://',
  '',
];

describe('an endpoint that a phone chose', () => {
  it.each(hostileAddresses)('is not dialled if its name has the address %s', async (address) => {
    const family = address.includes(':') ? 6 : 4;
    const sender = newSender({
      hosts: [`push.example:${port}`],
      resolve: async () => [{ address, family }],
    });
    await expect(send(sender, `https://push.example:${port}/a`)).resolves.toEqual(refused);
    expect(dialled).toBe(0);
  });

  it('is not dialled if one of its addresses is not public', async () => {
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const sender = newSender({ hosts: [`push.example:${port}`], resolve });
    await expect(send(sender, `https://push.example:${port}/a`)).resolves.toEqual(refused);
    expect(dialled).toBe(0);
  });

  it.each(hostileEndpoints)('is not looked up as %s', async (endpoint) => {
    const looked: string[] = [];
    const sender = newSender({
      resolve: async (name) => {
        looked.push(name);
        return [{ address: '127.0.0.1', family: 4 }];
      },
    });
    await expect(send(sender, endpoint)).resolves.toEqual(refused);
    expect(looked).toEqual([]);
    expect(dialled).toBe(0);
    // The rules alone refuse it too, whatever a registration lets through.
    expect(checkEndpoint(endpoint, everyPort)).toBeUndefined();
  });

  it.each(['localhost', 'relay.internal', 'metadata.google.internal'])(
    'is looked up under the name %s, and not dialled',
    async (name) => {
      const sender = newSender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
      await expect(send(sender, `https://${name}/a`)).resolves.toEqual(refused);
    },
  );

  it('is looked up once for each connection, which goes to an address of that answer', async () => {
    // The first answer would pass a check, and the second one leads inside.
    let lookups = 0;
    const resolve = async () => {
      lookups += 1;
      return [{ address: lookups === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }];
    };
    const sender = newSender({ hosts: [`push.example:${port}`], resolve });
    for (let tries = 1; tries <= 3; tries += 1) {
      await expect(send(sender, `https://push.example:${port}/a`)).resolves.toEqual(refused);
      expect(lookups).toBe(tries);
    }
    expect(dialled).toBe(0);
  });

  it('is not dialled on a host or port that the entry of the app does not list', async () => {
    const rules = { hosts: ['push.example', '*.wns.example:8443'], privateHosts: new Set<string>() };
    expect(checkEndpoint('https://push.example/a', rules)).toBeDefined();
    expect(checkEndpoint('https://par02.wns.example:8443/a', rules)).toBeDefined();
    for (const other of [
      'https://other.example/a',
      'https://push.example:8443/a',
      'https://par02.wns.example/a',
      'https://wns.example:8443/a',
      'https://evilwns.example:8443/a',
      'https://push.example.evil.example/a',
    ]) {
      expect(checkEndpoint(other, rules)).toBeUndefined();
    }
  });

  it('may have a private address only as a host of RELAY_WEB_PUSH_PRIVATE_HOSTS, with its port', () => {
    const rules = { hosts: '*', privateHosts: new Set(['push.lan:443', '127.0.0.1:8443']) } as const;
    expect(checkEndpoint('https://push.lan/a', rules)?.mayBePrivate).toBe(true);
    expect(checkEndpoint('https://127.0.0.1:8443/a', rules)?.mayBePrivate).toBe(true);
    expect(checkEndpoint('https://push.example/a', rules)?.mayBePrivate).toBe(false);
    expect(checkEndpoint('https://push.lan:8443/a', rules)).toBeUndefined();
    expect(checkEndpoint('https://127.0.0.1/a', rules)).toBeUndefined();
  });
});

describe('a push service that misbehaves', () => {
  type Behavior = (socket: Socket) => void;

  /** Starts a TLS server on this machine, which the sender may reach. */
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
      'sends its head byte by byte',
      (socket) => {
        const timer = setInterval(() => socket.write('x'), 20);
        socket.write('HTTP/1.1 201 Created\r\nx-slow: ');
        socket.once('close', () => clearInterval(timer));
      },
      'TIMED_OUT',
    ],
    [
      'sends its body byte by byte',
      (socket) => {
        const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20);
        socket.write('HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n');
        socket.once('close', () => clearInterval(timer));
      },
      'TIMED_OUT',
    ],
    ['closes the connection', (socket) => socket.destroy(), 'BROKEN_OFF'],
    ['answers something else', answer('220 mail.example ESMTP\r\n'), 'BROKEN_OFF'],
    [
      'sends a head without end',
      (socket) => {
        const line = `x-long: ${'x'.repeat(1000)}\r\n`;
        socket.write('HTTP/1.1 201 Created\r\n');
        const timer = setInterval(() => socket.write(line.repeat(10)), 5);
        socket.once('close', () => clearInterval(timer));
      },
      'BROKEN_OFF',
    ],
  ] as [string, Behavior, string][])('and %s holds no sender for long', async (_what, behave, why) => {
    const { sender, endpoint } = await serve(behave);
    const begun = Date.now();
    await expect(send(sender, endpoint)).resolves.toEqual({ kind: 'unanswered', why });
    expect(Date.now() - begun).toBeLessThan(5000);
  });

  it('and sends a body without end is read for 16 KiB', async () => {
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
    'and redirects by %i into the network is not followed',
    async (status) => {
      const target = `https://localhost:${port}/inside`;
      const { sender, endpoint, connections } = await serve(
        answer(`HTTP/1.1 ${status} Moved\r\nlocation: ${target}\r\ncontent-length: 0\r\n\r\n`),
      );
      await expect(send(sender, endpoint)).resolves.toMatchObject({ reason: 'UNEXPECTED_ANSWER' });
      expect([connections(), dialled]).toEqual([1, 0]);
    },
  );

  it('and has a certificate for another name gets nothing', async () => {
    const seen: string[] = [];
    const { sender, endpoint } = await serve((socket) =>
      socket.on('data', (data) => seen.push(String(data))),
    );
    const other = newSender({ privateHosts: new Set([new URL(endpoint).host]) });
    await expect(send(other, endpoint)).resolves.toEqual({ kind: 'unanswered', why: 'NOT_CONNECTED' });
    expect(seen).toEqual([]);
    void sender;
  });

  it('is held back after three requests without an answer, and probed by one request later', async () => {
    let now = Date.now();
    const { endpoint, connections } = await serve((socket) => socket.destroy());
    const sender = newSender({
      ca: tls.ca,
      privateHosts: new Set([new URL(endpoint).host]),
      clock: () => now,
    });
    const later = { environment: 'production', notAfter: now + 3_600_000 } as const;
    const { deliveryTo } = await import('./web-push-sender.js');
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

  it('and never answers gets few requests at once, and others are not delayed by it', async () => {
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

  it('cannot use up the requests of all with many names', async () => {
    const quick = await serve((socket) => {
      socket.on('data', () => socket.write('HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n'));
    });
    const slow = await serve(() => undefined);
    const { port: slowPort } = new URL(slow.endpoint);
    const names = Array.from({ length: 300 }, (_, index) => `host-${index}.example:${slowPort}`);
    // These names never resolve, as those of a slow name server.
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
    // 64 are under way and 64 wait; the others were refused at once.
    expect(held.size).toBe(128);
    await sender.close(0);
    expect((await Promise.all(all)).every(({ kind }) => kind === 'unanswered')).toBe(true);
  });
});

it('the listener of these tests would have counted a connection', async () => {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  expect(dialled).toBe(1);
});
