import { parseRetryAfter } from '@waxwing/protocol';

const maximumMilliseconds = 60 * 60_000;

/**
 * What a peer's `Retry-After` asks for, in milliseconds; at most an hour, because longer ones seen in practice were
 * mistakes.
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  const asked = parseRetryAfter(header, now);
  return asked === undefined ? undefined : Math.min(maximumMilliseconds, asked);
}
