import { isIP } from 'node:net';
import { AddressRanges, privateAddresses } from '@waxwing/service/http-settings';

/**
 * All IPv4 addresses, and IPv6 global unicast, the only part of IPv6 that is routed on the Internet. Overlay networks use
 * other parts, such as Yggdrasil `200::/7` (https://www.iana.org/assignments/ipv6-address-space).
 */
const routedRanges = new AddressRanges(['0.0.0.0/0', '2000::/3']);

/**
 * Ranges within {@link routedRanges} that are not public, in addition to {@link privateAddresses}: documentation,
 * benchmark, multicast and reserved addresses, and IPv6 addresses that a gateway translates to possibly private IPv4
 * addresses (https://www.iana.org/assignments/iana-ipv4-special-registry, …-ipv6-special-registry).
 */
const specialRanges = new AddressRanges([
  '0.0.0.0/8',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
]);

/** Whether an IP address is publicly routable. */
export function isPublicAddress(address: string): boolean {
  const isRouted = isIP(address) !== 0 && routedRanges.has(address);
  return isRouted && !privateAddresses.has(address) && !specialRanges.has(address);
}
