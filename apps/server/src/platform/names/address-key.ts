import { domainToUnicode } from 'node:url';

/**
 * Returns the normalized form of an email address, which is stored in `email_lower` and used for comparisons. Ignores
 * letter case, the composition of accents, the dot of an i, and whether the domain is in Punycode. Two users cannot
 * have addresses that differ only in these ways.
 */
export function addressKey(address: string): string {
  return readable(address).normalize('NFC').toLowerCase().replaceAll('ı', 'i');
}

function readable(address: string): string {
  const at = address.lastIndexOf('@') + 1;
  const domain = address.slice(at);
  if (!/^[a-z0-9.-]{1,254}$/i.test(domain) || !/xn--/i.test(domain)) return address;
  return address.slice(0, at) + (domainToUnicode(domain) || domain);
}
