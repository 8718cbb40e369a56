import { refused } from '@waxwing/protocol';

export const maximumHostnameCharacters = 128;

const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const hostPattern = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])(?::\\d{1,5})?$`);

/**
 * Reads a server's hostname, with a port if it has one. Returns the one spelling that a URL gives it: lower case, punycode,
 * without the port 443 and without a dot at its end, so that two spellings are no two servers.
 * @throws ProtocolError BAD_REQUEST
 */
export function readHostname(text: string): string {
  if (/[/?#\\]/.test(text)) {
    throw refused(`${text} contains invalid components (e.g., path, query, fragment).`);
  }
  const url = `https://${text}`;
  const host = URL.canParse(url) ? new URL(url).host.replace(/\.(?=$|:)/, '') : '';
  // URLs take user names, white space and control characters, and drop them from the host.
  if (/[\s@\p{Cc}]/u.test(text) || !hostPattern.test(host)) throw refused(`${text} is not a valid hostname`);
  return host;
}
