import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret } from './secret.js';

/**
 * Generates an API key or server key: 256 random bits as 64 hexadecimal digits, the format that stock clients expect.
 */
export function generateCredential(): Secret<string> {
  return new Secret(randomBytes(32).toString('hex'));
}

/** Returns the SHA-256 of a credential in hexadecimal, for storage. No salt is needed, because credentials are random. */
export function hashCredential(credential: string): string {
  return hash('sha256', credential, 'hex');
}

const unknownNameHash = hashCredential('the hash that is compared with when there is no such name');

/**
 * Compares a credential with a stored hash in constant time. For an unknown name, pass `undefined`: the call then takes
 * as long as for a wrong credential.
 */
export function matchesCredential(credential: string, storedHash: string | undefined): boolean {
  const given = Buffer.from(hashCredential(credential), 'hex');
  const stored = Buffer.from(storedHash ?? unknownNameHash, 'hex');
  return timingSafeEqual(given, stored) && storedHash !== undefined;
}
