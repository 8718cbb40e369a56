import type { IncomingMessage } from 'node:http';
import { matchesCredential } from '@waxwing/service/config';
import { describeForeignRequest } from '@waxwing/service/http';
import { host } from '../quickstart-environments.js';

/** Result of {@link guardPage}: the path after the token in the URL, or the reason for a refusal. */
export type Guarded =
  | { readonly kind: 'let-in'; readonly path: string; readonly query: URLSearchParams }
  | { readonly kind: 'refused'; readonly status: 403 | 404; readonly sentence: string };

/**
 * Admits requests whose path starts with the token. Other sites do not know the token and cannot read the responses.
 * The `Host` check refuses foreign host names that resolve to this machine (DNS rebinding). The `Origin` check refuses
 * pages on other ports of this machine.
 */
export function guardPage({ headers, url = '/' }: IncomingMessage, tokenHash: string): Guarded {
  const { host: hostHeader = '', origin } = headers;
  const foreign = describeForeignRequest(headers, host);
  if (foreign !== undefined) return { kind: 'refused', status: 403, sentence: foreign };
  if (origin !== undefined && origin !== `http://${hostHeader}`) {
    const sentence = `requests from other pages on this machine are refused (Origin ${JSON.stringify(origin.slice(0, 100))})`;
    return { kind: 'refused', status: 403, sentence };
  }
  const [path = '', query] = url.split('?', 2);
  const [, token = '', ...rest] = path.split('/');
  if (!matchesCredential(token, tokenHash) || rest.length === 0) {
    const sentence = 'there is nothing at this address: open the link that npm start printed';
    return { kind: 'refused', status: 404, sentence };
  }
  return { kind: 'let-in', path: rest.join('/'), query: new URLSearchParams(query) };
}
