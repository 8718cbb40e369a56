/** Every HTTP date starts with a weekday. Without this check, `Date.parse` would accept many other strings. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Parses a `Retry-After` header (RFC 9110 section 10.2.3): either whole seconds or an HTTP date, which is compared with
 * `now` (Unix milliseconds). Returns a non-negative delay in milliseconds, or `undefined` for anything else.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now;
  return Number.isNaN(asked) ? undefined : Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, asked));
}

/** Parses an HTTP date. Dates in asctime format have no time zone; they are in GMT. Returns NaN for anything else. */
function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
