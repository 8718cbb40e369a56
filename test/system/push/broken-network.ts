import { freePort } from '../../support/free-ports.js';
import { refused } from '../../support/relay-stand-in.js';
import type { Broken } from './broken-world.js';

/** Set-ups with network faults between the server and the relay. */
export const network: Readonly<Record<string, Broken>> = {
  'a name that does not exist': {
    breaks: () => ({ SERVER_RELAY_URL: 'https://relay.invalid' }),
    check: 'dns',
    cause: /^The name relay.invalid cannot be found.*(ENOTFOUND|EAI_AGAIN)/,
    remedy: /^Correct the name/,
  },
  'a relay that is down': {
    breaks: async () => ({ SERVER_RELAY_URL: `http://127.0.0.1:${await freePort()}` }),
    check: 'connection',
    cause: /nothing listens there \(ECONNREFUSED\)/,
    remedy: /^Check the address, and that the service is running/,
  },
  'a relay that cuts connections': {
    breaks: (w) => w.answering('cut'),
    check: 'connection',
    cause: /closes the connection/,
    remedy: /^Check the address/,
  },
  'http:// to a port with TLS': {
    breaks: async (w) => {
      const { SERVER_RELAY_URL: url } = await w.tlsRelay('127.0.0.1');
      return { SERVER_RELAY_URL: url.replace('https:', 'http:') };
    },
    check: 'connection',
    cause: /cannot be reached/,
    remedy: /TLS/,
  },
  'https:// to a port without TLS': {
    breaks: (w) => ({ SERVER_RELAY_URL: w.world.relayUrl.replace('http:', 'https:') }),
    check: 'tls',
    cause: /does not use TLS/,
    remedy: /^Use http:\/\/ if that is intended/,
  },
  'a certificate from an unknown authority': {
    breaks: async (w) => ({ SERVER_RELAY_URL: (await w.tlsRelay('127.0.0.1')).SERVER_RELAY_URL }),
    check: 'tls',
    cause: /not from a certificate authority that this machine trusts/,
    remedy: /set SERVER_RELAY_CA_FILE to its PEM file/,
  },
  'a certificate for another name': {
    breaks: async (w) => {
      const { ca, SERVER_RELAY_URL } = await w.tlsRelay('relay.example');
      return { SERVER_RELAY_URL, SERVER_RELAY_CA_FILE: w.file('ca.pem', ca) };
    },
    check: 'tls',
    cause: /certificate is for another name/,
    remedy: /^Use the name in the certificate/,
  },
  'a proxy that is down': {
    breaks: async () => ({ SERVER_RELAY_PROXY: `http://127.0.0.1:${await freePort()}` }),
    check: 'connection',
    cause: /cannot be reached/,
    remedy: /also check the proxy in SERVER_RELAY_PROXY/,
  },
  'the page of another website': {
    breaks: (w) => w.answering({ status: 404, body: '<h1>Not Found</h1>' }),
    check: 'relay',
    cause: /answers 404, but is not a relay/,
    remedy: /SERVER_RELAY_URL/,
  },
  'a relay that is down behind a proxy': {
    breaks: (w) => w.answering({ status: 502, body: '<h1>502 Bad Gateway</h1>' }),
    check: 'relay',
    cause: /answers 502, .* is not a relay: it may be a proxy whose relay is down/,
    remedy: /operator whether the relay runs/,
  },
  'a redirection': {
    breaks: (w) => w.answering({ status: 302, headers: { location: 'https://relay.example' } }),
    check: 'relay',
    cause: /answers 302, a redirect, which is not followed/,
    remedy: /SERVER_RELAY_URL/,
  },
  'an address with a path': {
    breaks: (w) => ({ SERVER_RELAY_URL: `${w.world.relayUrl}/push` }),
    check: 'relay',
    cause: /answers 404, but is not a relay/,
    remedy: /without a path/,
  },
  'a relay that fails': {
    breaks: (w) => w.answering(refused(500, 'INTERNAL_SERVER_ERROR', 'Internal server error')),
    check: 'relay',
    cause: /answers 500/,
    remedy: /operator/,
  },
};
