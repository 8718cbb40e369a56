import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Secret } from '@waxwing/service/config';

/** So long an address without login is good for. */
export const addressLifetimeMilliseconds = 60_000;

/** What lets whoever has it read one file until an instant, in Unix milliseconds. */
export function signFile(key: Secret<Buffer>, fileId: number, expiresAt: number): string {
  const signed = `${fileId}-${expiresAt}`;
  return `${signed}-${signatureOf(key, signed)}`;
}

/**
 * The id of the file that the token is for; `undefined` for one that was not signed with this key, and for an expired
 * one.
 */
export function openSignedFile(key: Secret<Buffer>, token: string, now: number): number | undefined {
  const [, signed = '', fileId, expiresAt, signature = ''] =
    /^((\d{1,15})-(\d{1,15}))-([0-9a-f]{64})$/.exec(token) ?? [];
  const expected = Buffer.from(signatureOf(key, signed), 'hex');
  const given = Buffer.from(signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  return now < Number(expiresAt) ? Number(fileId) : undefined;
}

function signatureOf(key: Secret<Buffer>, signed: string): string {
  return createHmac('sha256', key.reveal()).update(`uploaded file ${signed}`).digest('hex');
}
