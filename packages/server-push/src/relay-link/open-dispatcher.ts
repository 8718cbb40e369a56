import { createRequire } from 'node:module';
import { rootCertificates } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { RelayNetwork } from '../server-push-options.js';

const maximumConnections = 16;

/** Opens connections to a relay. Loads undici on first use, because a server may have no relay. */
export function openDispatcher({ authorities, proxyUrl }: RelayNetwork = {}): Dispatcher {
  const { Agent, ProxyAgent }: typeof import('undici') = createRequire(import.meta.url)('undici');
  const tls = authorities === undefined ? {} : { ca: [...rootCertificates, authorities] };
  if (proxyUrl === undefined) return new Agent({ connections: maximumConnections, connect: tls });
  // Plain HTTP is also tunneled, because a proxy may rewrite requests that it forwards.
  return new ProxyAgent({
    uri: proxyUrl.reveal(),
    connections: maximumConnections,
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: tls,
  });
}
