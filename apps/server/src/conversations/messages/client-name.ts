const maximumCharacters = 30;

/**
 * Returns the name of the client program, as stored with messages: the first product in its `User-Agent`, truncated to
 * 30 characters, or `unknown`.
 */
export function clientName(userAgent: string | undefined): string {
  const product = /^[^\s/(]+/.exec(userAgent ?? '')?.[0] ?? 'unknown';
  return [...product].slice(0, maximumCharacters).join('');
}
