import { type ClientHttp2Session, connect } from 'node:http2';
import { isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { HttpProxy } from '../http-proxy.js';

/** Address of APNs, and the settings for connecting to it. */
export interface ApnsHost {
  readonly url: string;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. */
  readonly ca: string | string[] | undefined;
  /** Default: connects without a proxy. */
  readonly proxy?: HttpProxy | undefined;
}

/**
 * Opens an HTTP/2 session. Resolves the host name for each session, as Apple recommends. A proxy resolves the name
 * itself.
 */
export function openSession({ url, ca, proxy }: ApnsHost): ClientHttp2Session {
  const authorities = ca === undefined ? {} : { ca };
  if (proxy === undefined) return connect(url, authorities);
  const { hostname, port } = new URL(url);
  const createConnection = () =>
    connectTls({
      socket: proxy.stream(`${hostname}:${port || 443}`),
      // Server Name Indication does not allow IP addresses (https://www.rfc-editor.org/rfc/rfc6066#section-3).
      servername: isIP(hostname) === 0 ? hostname : '',
      host: hostname,
      ALPNProtocols: ['h2'],
      ...authorities,
    });
  return connect(url, { createConnection });
}
