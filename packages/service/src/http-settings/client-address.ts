import { BlockList, isIP, isIPv4 } from 'node:net';

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

/** A set of IP addresses and ranges, IPv4 and IPv6. */
export class AddressRanges {
  readonly isEmpty: boolean;
  readonly #list = new BlockList();

  /** @throws RangeError that names what is neither an address nor a range such as `10.0.0.0/8`. */
  constructor(ranges: readonly string[]) {
    this.isEmpty = ranges.length === 0;
    for (const range of ranges) this.#add(range);
  }

  has(address: string): boolean {
    const plain = plainAddress(address);
    return isIP(plain) !== 0 && this.#list.check(plain, isIPv4(plain) ? 'ipv4' : 'ipv6');
  }

  #add(range: string): void {
    const [address = '', prefix, ...rest] = range.split('/');
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    const longest = family === 'ipv4' ? 32 : 128;
    const bits = prefix === undefined ? longest : Number(prefix);
    const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && bits <= longest);
    if (isIP(address) === 0 || !isPrefix || rest.length > 0) {
      throw new RangeError(`"${range}" is neither an IP address nor a range such as 10.0.0.0/8`);
    }
    this.#list.addSubnet(address, bits, family);
  }
}

/** Loopback, private and link-local addresses: where a proxy of one's own is. */
export const privateAddresses = new AddressRanges(privateRanges);

/** What is counted as one client: an IPv4 address, or the /64 that an IPv6 address is in, which is one customer's. */
export function addressGroup(address: string): string {
  const plain = plainAddress(address);
  return plain.includes(':') ? `${sixteenBitGroups(plain).slice(0, 4).join(':')}::/64` : plain;
}

/**
 * Who asks a trusted proxy: of the addresses in `X-Forwarded-For`, the last that no trusted proxy has. `undefined`
 * when there is none, or it is no address.
 */
export function forwardedAddress(header: string | undefined, trusted: AddressRanges): string | undefined {
  const addresses = header?.split(',').map((text) => text.trim()) ?? [];
  const client = addresses.findLast((address) => !trusted.has(address));
  return client !== undefined && isIP(plainAddress(client)) !== 0 ? client : undefined;
}

/** Without a zone, and an IPv4 address that is written as an IPv6 one as what it is. */
function plainAddress(address: string): string {
  const [plain = ''] = address.split('%', 1);
  const [, mapped] = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain) ?? [];
  return mapped ?? plain;
}

function sixteenBitGroups(address: string): string[] {
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end stands for two groups; they are not among the first four.
  const width = after.at(-1)?.includes('.') || before.at(-1)?.includes('.') ? 7 : 8;
  const zeros = Array.from({ length: Math.max(0, width - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after].map((group) => group.toLowerCase().replace(/^0+(?=.)/, ''));
}
