import { AddressRanges } from '@waxwing/service/http-settings';
import { describe, expect, it } from 'vitest';
import { addressesBehind } from './addresses-behind.js';

const proxy = '10.0.0.1';

/** Spellings of the same address, and the client that the address counts as. */
const clients: readonly { readonly group: string; readonly written: readonly string[] }[] = [
  {
    group: '203.0.113.7',
    written: [
      '203.0.113.7',
      '::ffff:203.0.113.7',
      '::FFFF:203.0.113.7',
      '::ffff:cb00:7107',
      '::FFFF:CB00:7107',
    ],
  },
  {
    group: '203.0.113.7',
    written: ['0:0:0:0:0:ffff:203.0.113.7', '0000:0000:0000:0000:0000:ffff:cb00:7107'],
  },
  {
    group: '2001:db8:1:2::/64',
    written: [
      '2001:db8:1:2:3:4:5:6',
      '2001:DB8:1:2:3:4:5:6',
      '2001:0db8:0001:0002:0003:0004:0005:0006',
      '2001:db8:1:2::',
      '2001:db8:1:2::5',
      '2001:db8:1:2::203.0.113.7',
      '2001:db8:1:2:3:4:5:6%eth0',
    ],
  },
  { group: '2001:db8:0:0::/64', written: ['2001:db8::1', '2001:db8:0:0:0:0:0:1', '2001:0DB8::0001'] },
  { group: 'fe80:0:0:0::/64', written: ['fe80::1', 'fe80::1%eth0', 'FE80::1%12', 'fe80::1%25en_0'] },
];

/** Formats of an address from proxies: bare, with a port, in brackets, or in quotes. */
const dresses: Readonly<Record<string, (address: string) => readonly string[]>> = {
  bare: (address) => [address, ` ${address}`, `${address}\t`, `"${address}"`],
  'with a port': (address) =>
    address.includes(':')
      ? [`[${address}]:4711`, `"[${address}]:1"`, `[${address}]:65535`]
      : [`${address}:4711`, `"${address}:1"`, `${address}:65535`],
  'in brackets': (address) => (address.includes(':') ? [`[${address}]`, `"[${address}]"`] : []),
};

const readable = clients.flatMap(({ group, written }) =>
  written.flatMap((address) =>
    Object.values(dresses)
      .flatMap((dress) => dress(address))
      .map((text) => ({ text, group })),
  ),
);

// Without brackets, a number is a port only if it cannot be part of the address.
for (const text of ['2001:db8:1:2:3:4:5:6:4711', '2001:db8:1:2::5:47110'])
  readable.push({ text, group: '2001:db8:1:2::/64' });

const unreadable = [
  ...['unknown', '_hidden', '_SEVKISEK', '-', 'localhost', 'unix:', 'client.example.com', '(null)'],
  ...[
    'for=203.0.113.7',
    'for="[2001:db8::1]:4711"',
    'for=203.0.113.7;proto=https',
    '203.0.113.7;203.0.113.8',
  ],
  ...[
    '010.0.0.7',
    '203.0.113.07',
    '0xcb.0.113.7',
    '3405803783',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.7.1',
  ],
  ...[
    '203.0.113.7/32',
    '203.0.113.7%eth0',
    '203.0.113.7:',
    '203.0.113.7:x',
    '203.0.113.7:65536',
    '203.0.113.7:1:2',
  ],
  ...['[203.0.113.7]', '[203.0.113.7]:80', '203.0.113.7 203.0.113.8', '２０３.0.113.7'],
  ...[
    '2001:db8::1::2',
    '2001:db8:1:2:3:4:5',
    '2001:db8::g',
    '[2001:db8::1',
    '2001:db8::1]',
    '[[2001:db8::1]]',
  ],
  ...[
    '[2001:db8::1]4711',
    '[2001:db8::1]:',
    '[2001:db8::1]:http',
    '[]',
    '[]:80',
    '"',
    '""',
    '"203.0.113.7',
    "'203.0.113.7'",
  ],
  ...['::ffff:203.0.113.256', '%eth0', ':', '::%', 'x'.repeat(10_000)],
];

/** Forged text that a client may send. A proxy appends the client's real address to it. */
const invented = ['', '9.9.9.9, ', 'unknown, ', 'x, 9.9.9.9,, ', ', ', '"[2001:db8:9::9]:1" , '];

describe('a forwarded address', () => {
  it('counts as one client in every notation that trusted proxies use', () => {
    const { said, warnings } = addressesBehind(proxy);
    for (const { text, group } of readable) {
      for (const before of invented) {
        for (const after of [
          '',
          ',',
          ` , ${proxy}`,
          `, "[::ffff:${proxy}]:80"`,
          ', ::FFFF:a00:1,, 10.0.0.1:1,',
        ]) {
          const header = `${before}${text}${after}`;
          const { forwardedBy, of, nearest } = said(proxy, header);
          expect({ header, forwardedBy, of, nearest }).toEqual({
            header,
            forwardedBy: group,
            of: group,
            nearest: group,
          });
        }
      }
    }
    expect(warnings()).toEqual([]);
  });

  it('counts as the same client as all other addresses that cannot be parsed, and is logged once', () => {
    const { said, warnings } = addressesBehind(proxy, '2001:db8:aaaa::/48');
    const seen = new Set<unknown>();
    for (const text of unreadable) {
      for (const before of invented) {
        for (const from of [proxy, '10.0.0.1', '2001:db8:aaaa::1', '2001:db8:aaaa:9::1']) {
          const { forwardedBy, of, nearest, limited } = said(from, `${before}${text}, ${proxy}`);
          expect({ text, forwardedBy, limited }).toEqual({ text, forwardedBy: of, limited: undefined });
          expect(nearest).toBe(of);
          seen.add(of);
        }
      }
    }
    expect([...seen]).toEqual(['unreadable']);
    expect(warnings()).toMatchObject([
      {
        address: proxy,
        forwarded: 'unknown',
        msg: expect.stringContaining('RELAY_TRUSTED_PROXIES'),
      },
    ]);
  });

  it('is logged with its first hundred characters if it cannot be parsed', () => {
    const { said, warnings } = addressesBehind(proxy);
    said(proxy, 'x'.repeat(10_000));
    expect(warnings()).toMatchObject([{ forwarded: 'x'.repeat(100) }]);
  });

  it('is parsed in linear time', () => {
    const { said } = addressesBehind(proxy);
    const begun = performance.now();
    for (const text of ['[', ':', '1:', '%', '"'].flatMap((each) => [each, `[${each}`, `1${each}:`])) {
      expect(said(proxy, `${text[0]}${text.repeat(30_000)}:`).of).toBe('unreadable');
      expect(said(proxy, `[${':'.repeat(30_000)}${text}`).of).toBe('unreadable');
    }
    expect(performance.now() - begun).toBeLessThan(2000);
  });

  it('is ignored in favor of the proxy’s address if it is only in Forwarded, which is logged once', () => {
    const { said, warnings } = addressesBehind(proxy);
    for (const header of ['for=203.0.113.7', 'For="[2001:db8::1]:4711";proto=https, for=_hidden']) {
      expect(said(proxy, undefined, header).of).toBe(proxy);
      expect(said(proxy, '203.0.113.7', header).of).toBe('203.0.113.7');
      expect(said('198.51.100.9', undefined, header).of).toBe('198.51.100.9');
    }
    expect(warnings()).toMatchObject([
      { address: proxy, msg: expect.stringContaining('forwards Forwarded without X-Forwarded-For') },
    ]);
  });

  it('is not skipped if it cannot be parsed, because the client could forge an earlier address', () => {
    const { said } = addressesBehind(proxy);
    expect(said(proxy, '9.9.9.9, unknown, 10.0.0.1').of).toBe('unreadable');
  });

  it('is the farthest proxy’s if all are trusted, and the nearest proxy’s if none is forwarded', () => {
    const { said, warnings } = addressesBehind('10.0.0.0/8', '2001:db8:aaaa::/48');
    expect(said('10.0.0.1', '10.0.0.3:80, ::ffff:10.0.0.2').of).toBe('10.0.0.3');
    for (const header of [undefined, '', ' , ,', []]) {
      expect(said('::ffff:10.0.0.1', header).forwardedBy).toBe('10.0.0.1');
      expect(said('2001:db8:aaaa:1::9', header).forwardedBy).toBe('2001:db8:aaaa:1::/64');
    }
    expect(warnings()).toEqual([]);
  });
});

describe('a trusted proxy', () => {
  const same: readonly (readonly string[])[] = [
    ['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:a00:1', '0:0:0:0:0:ffff:10.0.0.1'],
    ['2001:db8::1', '2001:DB8:0::0001'],
    ['fe80::1', 'fe80::1%eth0', 'FE80::1%1'],
    ['10.0.0.0/8', '::ffff:10.0.0.0/104'],
  ];
  it.each(same.flatMap((ways) => ways.map((named) => ({ named, ways }))))(
    'named as $named is recognized in every notation of its address',
    ({ named, ways }) => {
      const ranges = new AddressRanges([named]);
      for (const way of ways) expect(ranges.has(way.split('/')[0] as string)).toBe(true);
      for (const other of [
        '11.0.0.1',
        '2001:db8::2',
        'fe80::2',
        'unknown',
        '',
        '010.0.0.1',
        '10.0.0.1%eth0',
      ]) {
        expect(ranges.has(other)).toBe(false);
      }
    },
  );
});
