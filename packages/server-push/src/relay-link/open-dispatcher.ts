import { createRequire } from 'node:module';
import { rootCertificates } from 'node:tls';
import type { Dispatcher } from 'undici';
import type { RelayNetwork } from '../server-push-options.js';

const maximumConnections = 16;

/** Opens connections to a relay. Loads undici only then, since a server may have no relay. */
export function openDispatcher({ authorities, proxyUrl }: RelayNetwork = {}): Dispatcher {
  const { Agent, ProxyAgent }: typeof import('undici') = createRequire(import.meta.url)('undici');
  const tls = authorities === undefined ? {} : { ca: [...rootCertificates, authorities] };
  if (proxyUrl === undefined) return new Agent({ connections: maximumConnections, connect: tls });
  // A tunnel for plain HTTP too: a proxy may rewrite what it forwards.
  return new ProxyAgent({
    uri: proxyUrl.reveal(),
    connections: maximumConnections,
    proxyTunnel: true,
    requestTls: tls,
    proxyTls: tls,
  });
}
