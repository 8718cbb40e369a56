/**
 * Seconds that a `Retry-After` header asks to wait (RFC 9110 section 10.2.3: seconds or an HTTP date), from 0;
 * `undefined` when it is absent or neither of the two.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  // Every HTTP date starts with the name of a day; Date.parse would take much else.
  const instant = /^[A-Z][a-z]{2,8},? /.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(instant) ? undefined : Math.max(0, Math.ceil((instant - now) / 1000));
}
