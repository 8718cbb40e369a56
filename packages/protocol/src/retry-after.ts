/** Every HTTP date starts with the name of a day; Date.parse would take much else. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/**
 * Milliseconds that a `Retry-After` header asks for, from whole seconds or from an HTTP date (RFC 9110 section 10.2.3);
 * `undefined` for anything else. `now` is what the date is counted from, in Unix milliseconds.
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now;
  return Number.isNaN(asked) ? undefined : Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, asked));
}

/** The third form of an HTTP date, asctime's, names no zone; it is GMT like the others. Not a number for anything else. */
function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
