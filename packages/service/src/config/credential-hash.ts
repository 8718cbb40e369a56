import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Secret } from './secret.js';

/** A new API key or server key: 256 random bits as 64 hexadecimal digits, the form stock peers require. */
export function generateCredential(): Secret<string> {
  return new Secret(randomBytes(32).toString('hex'));
}

/** What is stored of a credential: its SHA-256 in hexadecimal. The credential is random, so no salt is needed. */
export function hashCredential(credential: string): string {
  return hash('sha256', credential, 'hex');
}

const nobodysHash = hashCredential('the hash that is compared with when there is no such name');

/**
 * Whether `credential` is the one that was stored as `storedHash`. Takes the same time for a wrong credential and for
 * an unknown name (`undefined`).
 */
export function matchesCredential(credential: string, storedHash: string | undefined): boolean {
  const given = Buffer.from(hashCredential(credential), 'hex');
  const stored = Buffer.from(storedHash ?? nobodysHash, 'hex');
  return timingSafeEqual(given, stored) && storedHash !== undefined;
}
