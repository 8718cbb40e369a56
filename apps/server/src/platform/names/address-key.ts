import { domainToUnicode } from 'node:url';

/**
 * The form of an email address for comparing it: ignores letter case, the way in which accents are composed, the dot of an
 * i, and whether the domain is written in Punycode. Two users cannot have addresses that differ in these alone.
 * `email_lower` holds it.
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
