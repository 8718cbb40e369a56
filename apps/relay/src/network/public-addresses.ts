import { isIP } from 'node:net';
import { AddressRanges, privateAddresses } from '@waxwing/service/http-settings';

/**
 * Ranges that are not public, in addition to {@link privateAddresses}: documentation, benchmarks, multicast and reserved
 * addresses, and IPv6 addresses that a gateway translates to IPv4 ones, which may be private
 * (https://www.iana.org/assignments/iana-ipv4-special-registry, …-ipv6-special-registry, and RFC 2765 for `::ffff:0:0:0`).
 */
const otherRanges = new AddressRanges([
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fec0::/10',
  'ff00::/8',
]);

/** Whether an IP address is publicly routable. */
export function isPublicAddress(address: string): boolean {
  return isIP(address) !== 0 && !privateAddresses.has(address) && !otherRanges.has(address);
}
