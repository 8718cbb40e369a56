import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UserId } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';

/** Lifetime of a temporary download URL. */
export const addressLifetimeMilliseconds = 60_000;

/** The content of a temporary URL's token: a file, and the user who requested the URL. */
export interface SignedFile {
  readonly fileId: number;
  /** The id of `spectator` for an unauthenticated client. */
  readonly readerId: UserId;
}

/**
 * Signs a token for a temporary URL. The token is valid until `expiresAt` (Unix milliseconds), as long as the reader
 * may read the file.
 */
export function signFile(key: Secret<Buffer>, { fileId, readerId }: SignedFile, expiresAt: number): string {
  const signed = `${fileId}-${readerId}-${expiresAt}`;
  return `${signed}-${signatureOf(key, signed)}`;
}

/** Verifies a token and returns its content, or `undefined` if the token is expired or was not signed with this key. */
export function openSignedFile(key: Secret<Buffer>, token: string, now: number): SignedFile | undefined {
  const [, signed = '', fileId, readerId, expiresAt, signature = ''] =
    /^((\d{1,15})-(\d{1,15})-(\d{1,15}))-([0-9a-f]{64})$/.exec(token) ?? [];
  const expected = Buffer.from(signatureOf(key, signed), 'hex');
  const given = Buffer.from(signature, 'hex');
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
  if (now >= Number(expiresAt)) return undefined;
  return { fileId: Number(fileId), readerId: Number(readerId) as UserId };
}

function signatureOf(key: Secret<Buffer>, signed: string): string {
  return createHmac('sha256', key.reveal()).update(`uploaded file ${signed}`).digest('hex');
}
