import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const everyAddress = ['0.0.0.0', '::'];

/**
 * What is wrong with a request to a listener that only people and programs of this machine are to use, or `undefined`.
 * A web page that they look at may send requests here as well: from its own origin, or, once its name leads to this
 * machine's address (DNS rebinding), under that name. So `Host` and, where there is one, `Origin` must name this machine
 * or the address that the listener is bound to. One that is bound to every address takes any address as `Host`, because
 * a page's name is none.
 */
export function describeForeignRequest(
  headers: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
  boundHost: string,
): string | undefined {
  const { host, origin } = headers;
  const hostName = nameIn(`http://${host ?? ''}`);
  const isOwn =
    isThisMachine(hostName, boundHost) || (everyAddress.includes(boundHost) && isIP(hostName) !== 0);
  if (!isOwn) {
    return `this is not answered under the name in Host (${shown(host)}): use localhost or the address that it is bound to`;
  }
  if (origin !== undefined && !isThisMachine(nameIn(origin), boundHost)) {
    return `this is not answered to web pages of other sites (Origin ${shown(origin)})`;
  }
  return undefined;
}

/** In lower case and without port and brackets; empty for what is no URL. */
function nameIn(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}

function isThisMachine(name: string, boundHost: string): boolean {
  if (name === 'localhost' || name === '::1' || name === boundHost.toLowerCase()) return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

function shown(header: string | undefined): string {
  return header === undefined ? 'none' : JSON.stringify(header.slice(0, 100));
}
