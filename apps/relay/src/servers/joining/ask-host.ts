import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { ProtocolError, refused } from '@waxwing/protocol';
import { readAnswerText } from '@waxwing/service/http';
import type { Dispatcher } from 'undici';
import type { OutgoingAuthorities } from '../../network/outgoing-authorities.js';
import { isPublicAddress } from '../../network/public-addresses.js';

/** Network access for requests to servers' hosts. Tests replace it. */
export interface HostNetwork {
  /** Resolves a name to all its addresses. */
  readonly lookUp: (name: string) => Promise<readonly LookupAddress[]>;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. Read for each request. */
  readonly authority?: string | string[] | undefined;
  readonly deadlineMilliseconds: number;
}

/** Returns this machine's network access, with certificate authorities that can be reloaded. */
export function systemHostNetwork(authorities: Pick<OutgoingAuthorities, 'trusted'>): HostNetwork {
  return {
    lookUp: (name) => dns.lookup(name, { all: true }),
    get authority() {
      return authorities.trusted;
    },
    deadlineMilliseconds: 5000,
  };
}

export interface HostQuestion {
  /** Result of `readHostname`; includes the port if it is not 443. */
  readonly hostname: string;
  readonly path: string;
  readonly mayBePrivate: boolean;
}

export interface HostAnswer {
  readonly status: number;
  /** `undefined` if it is longer than {@link maximumAnswerBytes}. */
  readonly text: string | undefined;
}

export const maximumAnswerBytes = 4096;
const maximumQuestionsAtOnce = 10;

/**
 * Sends HTTPS GET requests to the host of a joining server. An unauthenticated client chooses the host, so requests are
 * limited: public addresses only, no redirects, 5 seconds in total, 4096 bytes, ten at a time. Looks up the name once
 * and connects to the checked address: a second lookup could return a private address.
 */
export class HostAsker {
  readonly #network: HostNetwork;
  #asking = 0;

  constructor(network: HostNetwork) {
    this.#network = network;
  }

  /** @throws ProtocolError BAD_REQUEST that names the failure; SERVICE_UNAVAILABLE while ten requests are in flight. */
  async ask(question: HostQuestion): Promise<HostAnswer> {
    if (this.#asking >= maximumQuestionsAtOnce) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 5, cause: 'hosts-asked-at-once' });
    }
    this.#asking += 1;
    try {
      return await this.#ask(question, AbortSignal.timeout(this.#network.deadlineMilliseconds));
    } catch (error) {
      throw error instanceof ProtocolError ? error : hostTrouble(error);
    } finally {
      this.#asking -= 1;
    }
  }

  async #ask({ hostname, path, mayBePrivate }: HostQuestion, signal: AbortSignal): Promise<HostAnswer> {
    const url = new URL(path, `https://${hostname}`);
    const addresses = await this.#find(url.hostname.replace(/^\[|\]$/g, ''), signal);
    if (!mayBePrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
      throw refused(`${hostname} has no public address.`);
    }
    const dispatcher = await this.#connectTo(addresses);
    try {
      // Lazy import: most relays never need an HTTP client here. `request` follows no redirects.
      const { request } = await import('undici');
      const { statusCode, body } = await request(url, { dispatcher, signal });
      return { status: statusCode, text: await readAnswerText(body, maximumAnswerBytes) };
    } finally {
      await dispatcher.destroy();
    }
  }

  /** Looks up a name. A lookup cannot be aborted. After the deadline it continues, but its result is ignored. */
  async #find(name: string, signal: AbortSignal): Promise<readonly LookupAddress[]> {
    if (isIP(name) !== 0) return [{ address: name, family: isIPv6(name) ? 6 : 4 }];
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([this.#network.lookUp(name), aborted]);
  }

  async #connectTo(addresses: readonly LookupAddress[]): Promise<Dispatcher> {
    const { Agent } = await import('undici');
    const { authority } = this.#network;
    return new Agent({
      connect: {
        ...(authority !== undefined && { ca: authority }),
        lookup: (_name, { all }, found) => {
          const [first] = addresses;
          if (all) found(null, [...addresses]);
          else found(null, first?.address ?? '', first?.family);
        },
      },
    });
  }
}

const inTls = /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH)|CERT/;
const inConnection = /^(?:E[A-Z]+|UND_ERR_(?:CONNECT_TIMEOUT|SOCKET))$/;

/**
 * Converts a failure to a refusal. Names only the kind of failure, so that clients cannot use the responses to scan the
 * relay's network.
 */
function hostTrouble(error: unknown): ProtocolError {
  const { code = '', name = '' } = Object(error) as { readonly code?: string; readonly name?: string };
  const what =
    name === 'TimeoutError' || name === 'AbortError'
      ? 'The request timed out'
      : inTls.test(code)
        ? 'SSL error occurred'
        : inConnection.test(code)
          ? 'Connection error occurred'
          : 'An error occurred';
  return new ProtocolError('BAD_REQUEST', {
    message: `${what} while communicating with the host.`,
    cause: error,
  });
}
