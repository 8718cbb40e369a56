import { isIP } from 'node:net';
import { isPublicAddress } from '../../../network/public-addresses.js';
import type { WebPushApp } from './app.js';

export interface EndpointRules {
  readonly hosts: WebPushApp['hosts'];
  /** Hosts, with port (`push.lan:8443`), that may have a private address; see RELAY_WEB_PUSH_PRIVATE_HOSTS. */
  readonly privateHosts: ReadonlySet<string>;
}

/** An endpoint to which the relay may connect. */
export interface AllowedEndpoint {
  readonly url: URL;
  /** Whether the host may have addresses that are not public. */
  readonly mayBePrivate: boolean;
}

const defaultPort = '443';

/** Why the relay must not connect to an endpoint. */
export type EndpointRefusal =
  /**
   * The URL is not https, contains credentials, has a host name that ends with a dot, or has a non-public address. Or
   * the entry allows any host (`*`) and the port is not 443.
   */
  | 'ENDPOINT_REFUSED'
  /** The app's entry does not list the host with this port. */
  | 'HOST_NOT_SERVED';

/** Checks an endpoint that a phone chose, before its host name is looked up. */
export function checkEndpoint(
  endpoint: string,
  { hosts, privateHosts }: EndpointRules,
): AllowedEndpoint | EndpointRefusal {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || url.protocol !== 'https:') return 'ENDPOINT_REFUSED';
  if (url.username !== '' || url.password !== '' || url.hostname.endsWith('.')) return 'ENDPOINT_REFUSED';
  const port = url.port || defaultPort;
  const mayBePrivate = privateHosts.has(`${url.hostname}:${port}`);
  const address = url.hostname.replace(/^\[|\]$/g, '');
  if (!mayBePrivate && isIP(address) !== 0 && !isPublicAddress(address)) return 'ENDPOINT_REFUSED';
  if (hosts === '*') return mayBePrivate || port === defaultPort ? { url, mayBePrivate } : 'ENDPOINT_REFUSED';
  const isListed = hosts.some((host) => matches(host, url.hostname, port));
  return isListed ? { url, mayBePrivate } : 'HOST_NOT_SERVED';
}

/** Whether a host in the apps file, such as `*.push.example:8443`, matches this host and port. */
function matches(listed: string, hostname: string, port: string): boolean {
  const [name = '', listedPort = defaultPort] = listed.split(':');
  if (listedPort !== port) return false;
  return name.startsWith('*.') ? hostname.endsWith(name.slice(1)) : hostname === name;
}
