import { isIP } from 'node:net';
import { isPublicAddress } from '../../../network/public-addresses.js';
import type { WebPushApp } from './app.js';

export interface EndpointRules {
  readonly hosts: WebPushApp['hosts'];
  /** Hosts with a port (`push.lan:8443`) that may have a private address; see RELAY_WEB_PUSH_PRIVATE_HOSTS. */
  readonly privateHosts: ReadonlySet<string>;
}

/** How the relay may connect to a push service. */
export interface AllowedEndpoint {
  readonly url: URL;
  /** Whether the host may have addresses that are not public. */
  readonly mayBePrivate: boolean;
}

const defaultPort = '443';

/**
 * Checks an endpoint, which a phone chose, before anything is looked up. Returns `undefined` if the relay must not connect
 * to it: anything but https, credentials in the URL, a host or port that the rules do not allow, and an address that is not
 * public.
 */
export function checkEndpoint(
  endpoint: string,
  { hosts, privateHosts }: EndpointRules,
): AllowedEndpoint | undefined {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || url.protocol !== 'https:') return undefined;
  if (url.username !== '' || url.password !== '' || url.hostname.endsWith('.')) return undefined;
  const port = url.port || defaultPort;
  const mayBePrivate = privateHosts.has(`${url.hostname}:${port}`);
  const isListed =
    hosts === '*'
      ? mayBePrivate || port === defaultPort
      : hosts.some((host) => matches(host, url.hostname, port));
  if (!isListed) return undefined;
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (!mayBePrivate && isIP(address) !== 0 && !isPublicAddress(address)) return undefined;
  return { url, mayBePrivate };
}

/** Whether a host of the apps file, such as `*.push.example:8443`, names this host and port. */
function matches(listed: string, hostname: string, port: string): boolean {
  const [name = '', listedPort = defaultPort] = listed.split(':');
  if (listedPort !== port) return false;
  return name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name;
}
