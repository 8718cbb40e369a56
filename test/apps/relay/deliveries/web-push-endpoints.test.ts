import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkEndpoint } from '#relay/deliveries/vendors/webpush/endpoint-rules.js';
import type { WebPushSender } from '#relay/deliveries/vendors/webpush/sender.js';
import { type SenderUnderTestOptions, send, senderUnderTest } from './web-push-sender.js';

const refused = { kind: 'unanswered', why: 'ENDPOINT_REFUSED' };
const everyPort = { hosts: '*', privateHosts: new Set<string>() } as const;
const toClose: (() => unknown)[] = [];
/** Server on all addresses of this machine. Counts its connections. */
let listener: Server;
let port: number;
let dialled = 0;

beforeAll(async () => {
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
});

function newSender(options: SenderUnderTestOptions): WebPushSender {
  const sender = senderUnderTest(options);
  toClose.push(() => sender.close(0));
  return sender;
}

/** Addresses that are not public, to which a phone's host name may resolve. */
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
  '100:0:0:1::1',
  '1::1',
  '200::1',
  '400::1',
  '4000::1',
  '8000::1',
  'fe00::1',
  '::ffff:1:7f00:1',
  '0:0:0:0:0:FFFF:A9FE:A9FE',
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

/** Endpoints that the relay refuses without a DNS lookup, because of their address, port, credentials or format. */
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
  'https:127.0.0.1/a',
  'https:///127.0.0.1/a',
  'https://0300.0250.0.1/a',
  'https://127.0.0.0x1/a',
  'https://4294967295/a',
  'https://127.0.0.1../a',
  'https://2130706433./a',
  'https://localhost%2e/a',
  'https://①②⑦.⓪.⓪.①/a',
  'https://127.0.0\u00ad.1/a',
  'https://[::ffff:a9fe:a9fe]/a',
  'https://[200::1]/a',
  'https://[4000::1]/a',
  'https://[v1.a]/a',
  'https://xn--a/a',
  'https://push.example:0/a',
  'wss://push.example/a',
  'https://',
  '',
];

describe('an endpoint that a phone chose', () => {
  it.each(hostileAddresses)('gets no connection if its host name resolves to %s', async (address) => {
    const family = address.includes(':') ? 6 : 4;
    const sender = newSender({
      hosts: [`push.example:${port}`],
      resolve: async () => [{ address, family }],
    });
    await expect(send(sender, `https://push.example:${port}/a`)).resolves.toEqual(refused);
    expect(dialled).toBe(0);
  });

  it('gets no connection if one of its addresses is not public', async () => {
    const resolve = async () => [
      { address: '93.184.216.34', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const sender = newSender({ hosts: [`push.example:${port}`], resolve });
    await expect(send(sender, `https://push.example:${port}/a`)).resolves.toEqual(refused);
    expect(dialled).toBe(0);
  });

  it.each(hostileEndpoints)('is refused without a lookup: %s', async (endpoint) => {
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
    // The rules themselves also refuse the endpoint.
    expect(checkEndpoint(endpoint, everyPort)).toBe('ENDPOINT_REFUSED');
  });

  it.each(['localhost', 'relay.internal', 'metadata.google.internal'])(
    'gets no connection if its host name is %s',
    async (name) => {
      const sender = newSender({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] });
      await expect(send(sender, `https://${name}/a`)).resolves.toEqual(refused);
    },
  );

  it('is looked up once per connection', async () => {
    // Neither address is public. The count would be higher if the sender looked up the name again to connect.
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

  it("is refused if the app's entry does not list its host and port", async () => {
    const rules = { hosts: ['push.example', '*.wns.example:8443'], privateHosts: new Set<string>() };
    for (const listed of ['https://push.example/a', 'https://par02.wns.example:8443/a']) {
      expect(checkEndpoint(listed, rules)).toEqual({ url: new URL(listed), mayBePrivate: false });
    }
    for (const other of [
      'https://other.example/a',
      'https://push.example:8443/a',
      'https://par02.wns.example/a',
      'https://wns.example:8443/a',
      'https://evilwns.example:8443/a',
      'https://push.example.evil.example/a',
    ]) {
      expect(checkEndpoint(other, rules)).toBe('HOST_NOT_SERVED');
    }
    // No setting of the operator can allow these endpoints.
    for (const hostile of ['https://127.0.0.1/a', 'http://other.example/a', 'https://a:b@other.example/a']) {
      expect(checkEndpoint(hostile, rules)).toBe('ENDPOINT_REFUSED');
    }
  });

  it('may have a private address only if RELAY_WEB_PUSH_PRIVATE_HOSTS has its host and port', () => {
    const rules = { hosts: '*', privateHosts: new Set(['push.lan:443', '127.0.0.1:8443']) } as const;
    expect(checkEndpoint('https://push.lan/a', rules)).toMatchObject({ mayBePrivate: true });
    expect(checkEndpoint('https://127.0.0.1:8443/a', rules)).toMatchObject({ mayBePrivate: true });
    expect(checkEndpoint('https://push.example/a', rules)).toMatchObject({ mayBePrivate: false });
    expect(checkEndpoint('https://push.lan:8443/a', rules)).toBe('ENDPOINT_REFUSED');
    expect(checkEndpoint('https://127.0.0.1/a', rules)).toBe('ENDPOINT_REFUSED');
  });
});

it('the listener of these tests counts connections', async () => {
  const socket = connect(port, '127.0.0.1');
  await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  expect(dialled).toBe(1);
});
