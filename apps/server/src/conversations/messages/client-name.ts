const maximumCharacters = 30;

/** The client program's name as stored with messages: the first product of its `User-Agent`, at most 30 characters. */
export function clientName(userAgent: string | undefined): string {
  const product = /^[^\s/(]+/.exec(userAgent ?? '')?.[0] ?? 'unknown';
  return [...product].slice(0, maximumCharacters).join('');
}
