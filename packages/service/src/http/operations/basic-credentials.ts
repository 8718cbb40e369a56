import { ProtocolError, refused } from '@waxwing/protocol';
import { Secret } from '../../config/secret.js';

export interface BasicCredentials {
  readonly username: string;
  readonly password: Secret<string>;
}

const maximumHeaderCharacters = 4096;
const basicHeader = /^basic +([A-Za-z0-9+/]+={0,2})(?: |$)/i;
// RFC 7617 section 2 forbids control characters. PostgreSQL rejects text with U+0000.
const usernameAndPassword = /^([^:\p{Control}]+):([^:\p{Control}]+)$/u;

/**
 * Parses an `Authorization: Basic` header (RFC 7617). Refuses invalid headers with the errors that servers expect
 * (docs/protocol.md#authentication).
 * @throws ProtocolError UNAUTHORIZED if the header is missing or malformed; BAD_REQUEST for any other scheme
 */
export function parseBasicCredentials(header: string | undefined): BasicCredentials {
  if (header === undefined) throw unauthorized('Missing authorization header for basic auth');
  if (!/^basic(?: |$)/i.test(header)) {
    throw refused('This endpoint requires HTTP basic authentication.');
  }
  const [, encoded = ''] = (header.length <= maximumHeaderCharacters && basicHeader.exec(header)) || [];
  const [, username, password] =
    usernameAndPassword.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? [];
  if (username === undefined || password === undefined) {
    throw unauthorized('Invalid authorization header for basic auth');
  }
  return { username, password: new Secret(password) };
}

function unauthorized(message: string): ProtocolError {
  return new ProtocolError('UNAUTHORIZED', { message });
}
