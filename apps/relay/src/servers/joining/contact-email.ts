import { refused } from '@waxwing/protocol';
import { z } from 'zod';

export const maximumEmailCharacters = 254;

const email = z.email({ pattern: z.regexes.html5Email }).max(maximumEmailCharacters);

/**
 * Checks the email address of a server's administrator. Rejects addresses at `example.com`, a stock server's default.
 * Makes no DNS lookup, because an unauthenticated client would choose the name.
 * @throws ProtocolError BAD_REQUEST
 */
export function requireContactEmail(text: string): void {
  if (!email.safeParse(text).success) throw invalid('Enter a valid email address.');
  if (text.toLowerCase().endsWith('@example.com')) throw invalid('Invalid email address.');
}

function invalid(reason: string): Error {
  return refused(`Invalid server administrator email address: ${reason}`);
}
