import { BlockList, isIPv4, isIPv6, SocketAddress } from 'node:net';

const privateRanges = [
  '127.0.0.0/8',
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
  '::1/128',
  'fc00::/7',
  'fe80::/10',
];

/** Maximum length of an element. Longer than any address, even with a zone, a port, brackets and quotes. */
const maximumElementCharacters = 200;

/** A set of IP addresses and ranges, IPv4 and IPv6. */
export class AddressRanges {
  readonly isEmpty: boolean;
  readonly #list = new BlockList();

  /** @throws RangeError that contains the first entry that is neither an address nor a range such as `10.0.0.0/8` */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const range of ranges) this.#add(range);
  }

  has(address: string): boolean {
    const canonical = canonicalAddress(address);
    return canonical !== undefined && this.#list.check(canonical, familyOf(canonical));
  }

  #add(range: string): void {
    const [address = '', prefix, ...rest] = range.split('/');
    const canonical = canonicalAddress(address);
    // The prefix length of an IPv4-mapped range includes 96 bits that are not part of the IPv4 form.
    const left = canonical !== undefined && isIPv4(canonical) && !isIPv4(address) ? 96 : 0;
    const longest = canonical !== undefined && isIPv4(canonical) ? 32 : 128;
    const bits = prefix === undefined ? longest : Number(prefix) - left;
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && bits >= 0 && bits <= longest);
    if (canonical === undefined || !isPrefix || rest.length > 0) {
      throw new RangeError(`"${range}" is neither an IP address nor a range such as 10.0.0.0/8`);
    }
    this.#list.addSubnet(canonical, bits, familyOf(canonical));
  }
}

/** Loopback, private, link-local and carrier-grade NAT addresses, which reverse proxies typically have. */
export const privateAddresses = new AddressRanges(privateRanges);

/**
 * Returns the address range that counts as one client: an IPv4 address, or the /64 of an IPv6 address, because a /64
 * usually belongs to one customer.
 */
export function addressGroup(address: string): string {
  const canonical = canonicalAddress(address) ?? address;
  // Translated IPv4 addresses (NAT64, RFC 6052) share one /64, but each is a separate client.
  if (/^64:ff9b::[^:]*:[^:]*$/.test(canonical)) return canonical;
  return isIPv6(canonical) ? `${sixteenBitGroups(canonical).slice(0, 4).join(':')}::/64` : canonical;
}

/**
 * Finds the client's element in `X-Forwarded-For`: the last element that is not a trusted proxy, or the first if all
 * are trusted. Returns `undefined` if there are no elements. Ignores empty elements (RFC 9110 section 5.6.1). Does not
 * skip unreadable elements, because the client may have made up the elements before them.
 */
export function forwardedElement(header: string, trusted: AddressRanges): string | undefined {
  const elements = header
    .split(',')
    .map((text) => text.trim())
    .filter((text) => text !== '');
  return elements.findLast((text) => !trusted.has(readForwardedAddress(text) ?? '')) ?? elements[0];
}

/**
 * Reads one element of `X-Forwarded-For`: an IPv4 or IPv6 address with or without quotes, brackets, port and zone.
 * Returns `undefined` for anything else, such as `unknown`, `_hidden` and names.
 */
export function readForwardedAddress(element: string): string | undefined {
  // Rejects long elements, because matching the patterns below takes quadratic time.
  if (element.length > maximumElementCharacters) return undefined;
  const text = /^"(.*)"$/.exec(element)?.[1] ?? element;
  const [, bracketed, bracketedPort = '0'] = /^\[([^\]]*:[^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? [];
  if (bracketed !== undefined) return isPort(bracketedPort) ? canonicalAddress(bracketed) : undefined;
  const canonical = canonicalAddress(text);
  if (canonical !== undefined) return canonical;
  const [, address = '', port = ''] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  return isPort(port) ? canonicalAddress(address) : undefined;
}

function isPort(digits: string): boolean {
  return Number(digits) <= 65_535;
}

/** Returns the canonical form of an address: IPv6 compressed, in lowercase, without a zone; IPv4-mapped IPv6 as IPv4. */
function canonicalAddress(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const [, address = text] = /^([^%]*:[^%]*)%.+$/.exec(text) ?? [];
  if (!isIPv6(address)) return undefined;
  const canonical = new SocketAddress({ address, family: 'ipv6' }).address;
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(canonical) ?? [];
  return mapped ?? canonical;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}

function sixteenBitGroups(canonical: string): string[] {
  const [head = '', tail = ''] = canonical.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after];
}
