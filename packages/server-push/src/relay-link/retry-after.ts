const maximumSeconds = 60 * 60;

/**
 * Seconds that a `Retry-After` header asks to wait (RFC 9110 section 10.2.3: seconds or an HTTP date), from 0 to an
 * hour, since longer ones are mistakes; `undefined` when it is absent or neither of the two.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const seconds = /^\d+$/.test(text) ? Number(text) : Math.ceil((parseHttpDate(text) - now) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(maximumSeconds, Math.max(0, seconds));
}

/** Every HTTP date starts with the name of a day; Date.parse would take much else. All three forms are in GMT. */
function parseHttpDate(text: string): number {
  if (!/^[A-Z][a-z]{2,8},? /.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
