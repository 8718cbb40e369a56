import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

const everyAddress = ['0.0.0.0', '::'];

/**
 * Detects requests that a web page on another site sends to a local listener, either directly or through DNS rebinding.
 * Returns a description of the problem, or `undefined` for a legitimate request. `Host` and, if present, `Origin` must
 * name this machine or the address that the listener is bound to. A listener bound to all addresses accepts any IP
 * address as `Host`, because DNS rebinding requires a name. `Origin` may always match an accepted `Host`.
 */
export function describeForeignRequest(
  headers: Pick<IncomingHttpHeaders, 'host' | 'origin'>,
  boundHost: string,
): string | undefined {
  const { host, origin } = headers;
  const hostUrl = `http://${host ?? ''}`;
  const hostName = nameIn(hostUrl);
  const isOwn =
    isThisMachine(hostName, boundHost) || (everyAddress.includes(boundHost) && isIP(hostName) !== 0);
  if (!isOwn) {
    return `this listener does not accept the name in Host (${shown(host)}): use localhost or the address that it is bound to`;
  }
  if (origin !== undefined && !isSameHost(origin, hostUrl) && !isThisMachine(nameIn(origin), boundHost)) {
    return `this listener does not accept requests from pages of other sites (Origin ${shown(origin)})`;
  }
  return undefined;
}

/** Returns the host name in lowercase, without port and brackets; empty for an invalid URL. */
function nameIn(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[|\]$/g, '') : '';
}

function isSameHost(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).host === new URL(other).host;
}

function isThisMachine(name: string, boundHost: string): boolean {
  if (name === 'localhost' || name === '::1' || name === boundHost.toLowerCase()) return true;
  return isIP(name) === 4 && name.startsWith('127.');
}

function shown(header: string | undefined): string {
  return header === undefined ? 'none' : JSON.stringify(header.slice(0, 100));
}
