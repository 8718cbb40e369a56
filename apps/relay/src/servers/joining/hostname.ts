import { refused } from '@waxwing/protocol';

export const maximumHostnameCharacters = 128;

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const hostPattern = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])(?::\\d{1,5})?$`);

/**
 * Reads a server's hostname, with an optional port. Returns the hostname normalized as in URLs: lower case, punycode,
 * without port 443 and without a final dot. Two spellings of a hostname therefore count as one server.
 * @throws ProtocolError BAD_REQUEST
 */
export function readHostname(text: string): string {
  if (/[/?#\\]/.test(text)) {
    throw refused(`${text} contains invalid components (e.g., path, query, fragment).`);
  }
  const url = `https://${text}`;
  const host = URL.canParse(url) ? new URL(url).host.replace(/\.(?=$|:)/, '') : '';
  // A URL parser would accept user names, whitespace and control characters, and drop them from the host.
  if (/[\s@\p{Cc}]/u.test(text) || !hostPattern.test(host)) throw refused(`${text} is not a valid hostname`);
  return host;
}
