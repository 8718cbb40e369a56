import { domainToASCII, domainToUnicode } from 'node:url';
import { refused } from '@waxwing/protocol';
import { z } from 'zod';
import { isDeceptive } from './deceptive-text.js';
import { isReservedAddress } from './reserved-identity.js';

export const maximumAddressCharacters = 254;

/** Maximum length of the part before the `@`, in UTF-8 octets (RFC 5321, section 4.5.3.1.1). */
const maximumLocalPartOctets = 64;

const wholeAddress = z.email({ pattern: z.regexes.rfc5322Email });
const asciiDomain = z.email({ pattern: z.regexes.html5Email });

/**
 * Top-level domains of countries whose languages have a dotless i. In other domains, the letter could imitate an i.
 * Chrome has a similar rule: ð and þ only in .is.
 */
const turkicTopLevels: ReadonlySet<string> = new Set(['tr', 'az', 'kz']);

/**
 * Returns whether a string is a valid email address for a user: at most 254 characters, at most 64 octets before the
 * `@`, no quoted part, and a domain name with a dot. Zod's patterns are for ASCII, so letters of other alphabets (RFC
 * 6531) count as `x`. No pattern accepts a colon, which would end the address in HTTP Basic credentials.
 */
export function isEmailAddress(text: string): boolean {
  if (text.length > maximumAddressCharacters || /["\s\p{Cc}]/u.test(text)) return false;
  const at = text.lastIndexOf('@');
  if (Buffer.byteLength(text.slice(0, at)) > maximumLocalPartOctets) return false;
  const domain = text.slice(at + 1);
  // Node strips a port, path or user name from a domain instead of rejecting it.
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(domain)) return false;
  const plain = `${text.slice(0, at)}@${domainToUnicode(domain)}`.replace(/[^\0-\x7f]/gu, 'x');
  return wholeAddress.safeParse(plain).success && asciiDomain.safeParse(`x@${domainToASCII(domain)}`).success;
}

/**
 * Rejects an email address that can be mistaken for another address. All code that sets a user's address calls this
 * function first and then {@link isEmailAddress}, which rejects strings that are not addresses.
 * @throws ProtocolError BAD_REQUEST for an address with invisible or lookalike characters, and for one that looks like
 * an address of the server's own bots.
 */
export function requireOwnAddress(address: string): void {
  if (address.length > maximumAddressCharacters || !address.includes('@')) return;
  const [local = '', domain = ''] = address.split('@');
  const labels = [...domain.split('.'), ...domainToUnicode(domain).split('.')];
  const topLevel = labels.at(-1) ?? '';
  // Browsers have the same rule: a non-Latin label may look Latin only if the top-level domain is non-Latin too.
  const mayLookLatin = /[^\0-\x7f]/.test(topLevel);
  const isTurkic = turkicTopLevels.has(topLevel.toLowerCase());
  if (
    // NFC composes an ordinary mark with its letter. A mark that remains separate is suspicious.
    isDeceptive(local.normalize('NFC'), { mayLookLatin: false, isTurkic }) ||
    labels.some((label) => isDeceptive(label, { mayLookLatin, isTurkic }))
  ) {
    throw refused(
      'This e-mail address has characters that are invisible or look like others: use only letters of one alphabet.',
    );
  }
  if (isReservedAddress(address)) {
    throw refused("This e-mail address is reserved for the server's own bots: choose another one.");
  }
}
