import { domainToUnicode } from 'node:url';
import { refused } from '@waxwing/protocol';
import { isDeceptive } from './deceptive-text.js';
import { isReservedAddress } from './reserved-identity.js';

// No colon: an address is the first half of HTTP Basic credentials.
const pattern = /^[^\s@:]+@[^\s@:]+$/;
export const maximumAddressCharacters = 254;

/** Whether a text is a valid email address for a user: at most 254 characters and no colon. */
export function isEmailAddress(text: string): boolean {
  return pattern.test(text) && text.length <= maximumAddressCharacters;
}

/**
 * Refuses an email address that can be mistaken for another one. Every path that sets a user's address calls this.
 * @throws ProtocolError BAD_REQUEST for an address with invisible or lookalike characters, and for one that looks
 * like an address of the server's own bots.
 */
export function requireOwnAddress(address: string): void {
  const [local = '', domain = ''] = address.split('@');
  const parts = [local, ...domain.split('.'), ...domainToUnicode(domain).split('.')];
  if (parts.some(isDeceptive)) {
    throw refused(
      'This e-mail address has characters that are invisible or look like others: write it in the letters of one alphabet.',
    );
  }
  if (isReservedAddress(address)) {
    throw refused("This e-mail address is reserved for the server's own bots: choose another one.");
  }
}
