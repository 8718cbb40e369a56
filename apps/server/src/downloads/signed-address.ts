import { createHmac, timingSafeEqual } from 'node:crypto';
import type { UserId } from '@waxwing/protocol';
import type { Secret } from '@waxwing/service/config';

/** So long an address without login is good for. */
export const addressLifetimeMilliseconds = 60_000;

/** A file under an address that needs no login, and the user who asked for the address. */
export interface SignedFile {
  readonly fileId: number;
  /** That of `spectator` for one that was given without an account. */
  readonly readerId: UserId;
}

/** A token by which a file is read until `expiresAt`, in Unix milliseconds, as long as the reader may read it. */
export function signFile(key: Secret<Buffer>, { fileId, readerId }: SignedFile, expiresAt: number): string {
  const signed = `${fileId}-${readerId}-${expiresAt}`;
  return `${signed}-${signatureOf(key, signed)}`;
}

/** What the token is for; `undefined` for one that was not signed with this key, and for an expired one. */
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
