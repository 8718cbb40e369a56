import { parseRetryAfter } from '@waxwing/protocol';

const maximumMilliseconds = 60 * 60_000;

/**
 * Parses a peer's `Retry-After` header to milliseconds. Returns `undefined` if it is missing or malformed. Values over
 * one hour are capped, because in practice they have been mistakes.
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const asked = parseRetryAfter(header, now);
  return asked === undefined ? undefined : Math.min(maximumMilliseconds, asked);
}
