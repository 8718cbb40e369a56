const maximumCharacters = 30;

/** The program that a request comes from, as messages name it: the first product of its `User-Agent`. */
export function clientName(userAgent: string | undefined): string {
  const product = /^[^\s/(]+/.exec(userAgent ?? '')?.[0] ?? 'unknown';
  return [...product].slice(0, maximumCharacters).join('');
}
