/** Every HTTP date starts with the name of a day; Date.parse would take much else. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;
const maximumMilliseconds = 60 * 60_000;

/**
 * Milliseconds that a `Retry-After` header asks for, from whole seconds or from an HTTP date (RFC 9110 section 10.2.3);
 * at most an hour, because longer ones seen in practice were mistakes. `undefined` for anything else.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : parseHttpDate(text) - now;
  if (Number.isNaN(asked)) return undefined;
  return Math.min(maximumMilliseconds, Math.max(0, asked));
}

/** The third form of an HTTP date, asctime's, names no zone; it is GMT like the others. Not a number for anything else. */
function parseHttpDate(text: string): number {
  if (!httpDate.test(text)) return Number.NaN;
  return Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
}
