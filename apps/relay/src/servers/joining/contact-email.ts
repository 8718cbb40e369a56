import { refused } from '@waxwing/protocol';
import { z } from 'zod';

export const maximumEmailCharacters = 254;

const email = z.email({ pattern: z.regexes.html5Email }).max(maximumEmailCharacters);

/**
 * Checks the address of a server's administrator. `example.com` is what a stock server is installed with. No name service
 * is asked: an unauthenticated client would decide for which names.
 * @throws ProtocolError BAD_REQUEST
 */
export function requireContactEmail(text: string): void {
  if (!email.safeParse(text).success) throw invalid('Enter a valid email address.');
  if (text.toLowerCase().endsWith('@example.com')) throw invalid('Invalid email address.');
}

function invalid(reason: string): Error {
  return refused(`Invalid server administrator email address: ${reason}`);
}
