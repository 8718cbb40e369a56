import { domainToUnicode } from 'node:url';
import { refused } from '@waxwing/protocol';
import { isDeceptive } from './deceptive-text.js';
import { isReservedAddress } from './reserved-identity.js';

// No colon: an address is the first half of HTTP Basic credentials.
const pattern = /^[^\s@:]+@[^\s@:]+$/;
export const maximumAddressCharacters = 254;

/** Whether a text has the form of an e-mail address that a user can have. */
export function isEmailAddress(text: string): boolean {
  return pattern.test(text) && text.length <= maximumAddressCharacters;
}

/**
 * Refuses an e-mail address that can be mistaken for another one: every path that gives a user an address calls this.
 * @throws ProtocolError BAD_REQUEST for an address with characters that are invisible or look like others, and for one that
 * looks like an address of the server's own bots.
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
