import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from '#relay/network/public-addresses.js';
import { HostAsker, type HostNetwork } from '#relay/servers/joining/ask-host.js';
import { answering, type Hosts, hostName, startHosts } from './host-under-test.js';

let hosts: Hosts;
beforeAll(async () => {
  hosts = await startHosts();
});
beforeEach(() => {
  hosts.state.answer = answering(200, { fine: true });
  for (const requests of Object.values(hosts.requests)) requests.length = 0;
});
afterAll(() => hosts.close());

/** Creates a function that sends a request, with a resolver that returns the lists of `answers` in turn. */
function ask(
  answers: readonly (readonly string[])[],
  changes: Partial<HostNetwork> = {},
  mayBePrivate = true,
) {
  const lookUps: string[] = [];
  const asker = new HostAsker({
    authority: hosts.authority,
    deadlineMilliseconds: 5000,
    lookUp: async (name) => {
      const addresses = answers[Math.min(lookUps.length, answers.length - 1)] ?? [];
      lookUps.push(name);
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    },
    ...changes,
  });
  const asked = (hostname = hosts.hostname) => asker.ask({ hostname, path: '/verify/x/', mayBePrivate });
  return { asked, lookUps };
}

it('the relay requests only the given path from a host, over HTTPS', async () => {
  const { asked, lookUps } = ask([['127.0.0.1']]);
  expect(await asked()).toEqual({ status: 200, text: '{"fine":true}' });
  expect([lookUps, hosts.requests.first]).toEqual([[hostName], ['GET /verify/x/']]);
});

describe('an address of the relay’s own network', () => {
  it.each([
    ['loopback', ['127.0.0.1']],
    ['loopback in addition to a public address', ['93.184.215.14', '127.0.0.1']],
    ['private', ['10.1.2.3']],
    ['link-local, such as cloud metadata', ['169.254.169.254']],
    ['IPv4-mapped IPv6', ['::ffff:127.0.0.1']],
    ['translated by NAT64', ['64:ff9b::7f00:1']],
  ])('is refused as the result of a DNS lookup: %s', async (_kind, addresses) => {
    const { asked } = ask([addresses], {}, false);
    await expect(asked()).rejects.toThrow(`${hosts.hostname} has no public address.`);
    expect(hosts.requests).toEqual({ first: [], second: [] });
  });

  it.each(['127.0.0.1', '[::1]', '[::ffff:7f00:1]', '169.254.169.254'])(
    'is refused as a hostname: %s',
    async (address) => {
      const { asked, lookUps } = ask([[]], {}, false);
      await expect(asked(`${address}:${hosts.port}`)).rejects.toThrow('has no public address.');
      expect([lookUps, hosts.requests.first]).toEqual([[], []]);
    },
  );

  it('is not contacted if only a second DNS lookup would return it', async () => {
    const { asked, lookUps } = ask([['127.0.0.1'], ['127.0.0.2']]);
    await asked();
    expect([lookUps, hosts.requests]).toEqual([[hostName], { first: ['GET /verify/x/'], second: [] }]);
  });

  it('is not contacted through a redirect', async () => {
    hosts.state.answer = (_request, response) => {
      response.writeHead(302, { location: `https://127.0.0.2:${hosts.port}/admin` }).end();
    };
    const { asked } = ask([['127.0.0.1']]);
    expect(await asked()).toEqual({ status: 302, text: '' });
    expect(hosts.requests.second).toEqual([]);
  });
});

describe('a request to a host', () => {
  const quick = { deadlineMilliseconds: 300 };
  it.each([
    ['never begins', () => undefined],
    [
      'arrives slowly and never ends',
      (_request, response) => {
        const timer = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ] satisfies [string, Hosts['state']['answer']][])('times out if the response %s', async (_what, answer) => {
    hosts.state.answer = answer;
    const { asked } = ask([['127.0.0.1']], quick);
    await expect(asked()).rejects.toThrow('The request timed out while communicating with the host.');
    await expect.poll(() => hosts.connections()).toBe(0);
  });

  it('is cut off if the response exceeds 4096 bytes', async () => {
    hosts.state.answer = (_request, response) => {
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    };
    expect(await ask([['127.0.0.1']]).asked()).toEqual({ status: 200, text: undefined });
    await expect.poll(() => hosts.connections()).toBe(0);
  });

  it.each([
    ['SSL error', { authority: undefined }, ['127.0.0.1']],
    ['Connection error', {}, ['127.0.0.3']],
    [
      'Connection error',
      { lookUp: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })) },
      [],
    ],
  ] satisfies [string, Partial<HostNetwork>, string[]][])(
    'reports the kind of failure: %s',
    async (what, changes, addresses) => {
      const { asked } = ask([addresses], changes);
      await expect(asked()).rejects.toThrow(`${what} occurred while communicating with the host.`);
    },
  );

  it('times out if the DNS server does not reply', async () => {
    const lookUp = () => new Promise<never>(() => undefined);
    await expect(ask([[]], { ...quick, lookUp }).asked()).rejects.toThrow('The request timed out');
  });

  it('counts toward the limit of ten concurrent requests until it ends', async () => {
    hosts.state.answer = () => undefined;
    const { asked } = ask([['127.0.0.1']], quick);
    const slow = Array.from({ length: 10 }, () => asked().catch((error: Error) => error.message));
    await expect(asked()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 });
    expect(new Set(await Promise.all(slow))).toEqual(
      new Set(['The request timed out while communicating with the host.']),
    );
    hosts.state.answer = answering(200, {});
    expect(await asked()).toMatchObject({ status: 200 });
  });
});

it.each([
  ['93.184.215.14', true],
  ['2606:2800:21f:cb07:6820:80da:af6b:8b2c', true],
  ['172.31.255.255', false],
  ['172.32.0.1', true],
  ['100.64.0.1', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::127.0.0.1', false],
  ['fd00::1', false],
  ['fe80::1%eth0', false],
  ['2002:7f00:1::', false],
  ['::ffff:0:7f00:1', false],
  ['64:ff9b:1::a00:1', false],
  ['localhost', false],
])('%s is public: %s', (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
