import { AddressRanges } from '@waxwing/service/http-settings';
import { describe, expect, it } from 'vitest';
import { addressGroup, privateAddresses } from '#service/http-settings/client-address.js';

describe('a client', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::203.0.113.7', '64:ff9b::cb00:7107'],
    ['2001::3:4:5:6:7:8', '2001:0:3:4::/64'],
    ['2001::3:4:5:6:203.0.113.7', '2001:0:3:4::/64'],
  ])('with the address %s counts as %s', (address, group) => {
    expect(addressGroup(address)).toBe(group);
  });

  it.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    'fd00::1',
    'fe80::1%lo',
  ])('at %s may be a private proxy', (address) => expect(privateAddresses.has(address)).toBe(true));

  it.each(['172.32.0.1', '203.0.113.7', '2001:db8::1', 'nowhere', ''])(
    'at %s is not a private proxy',
    (address) => expect(privateAddresses.has(address)).toBe(false),
  );
});

it.each(['10.0.0.0/33', '10.0.0/8', 'proxy.example.com', '::/129', '10.0.0.1/', '10.0.0.1/8/8', ''])(
  'the range "%s" is rejected',
  (range) => expect(() => new AddressRanges([range])).toThrow('is neither an IP address nor a range'),
);
