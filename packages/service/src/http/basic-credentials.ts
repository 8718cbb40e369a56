import { ProtocolError } from '@waxwing/protocol';
import { Secret } from '../config/secret.js';

export interface BasicCredentials {
  readonly username: string;
  readonly password: Secret<string>;
}

const maximumHeaderCharacters = 4096;

/**
 * Reads an `Authorization: Basic` header (RFC 7617) with the refusals of the push registration protocol.
 * @throws ProtocolError UNAUTHORIZED, or BAD_REQUEST for another scheme.
 */
export function parseBasicCredentials(header: string | undefined): BasicCredentials {
  if (header === undefined) throw unauthorized('Missing authorization header for basic auth');
  const [scheme = '', encoded = ''] = header.split(/ +/, 2);
  if (scheme.toLowerCase() !== 'basic') {
    throw new ProtocolError('BAD_REQUEST', { message: 'This endpoint requires HTTP basic authentication.' });
  }
  const pair = header.length <= maximumHeaderCharacters ? decodePair(encoded) : undefined;
  if (pair === undefined) throw unauthorized('Invalid authorization header for basic auth');
  return { username: pair[0], password: new Secret(pair[1]) };
}

function decodePair(encoded: string): [string, string] | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const pair = Buffer.from(encoded, 'base64').toString('utf8');
  // RFC 7617 section 2 forbids them, and PostgreSQL takes no text with a zero in it.
  if (/\p{Control}/u.test(pair)) return undefined;
  const parts = pair.split(':');
  const [username, password] = parts;
  return parts.length === 2 && username && password ? [username, password] : undefined;
}

function unauthorized(message: string): ProtocolError {
  return new ProtocolError('UNAUTHORIZED', { message });
}
