import { promises as dns, type LookupAddress } from 'node:dns';
import { isIP, isIPv6 } from 'node:net';
import { ProtocolError, refused } from '@waxwing/protocol';
import { readAnswerText } from '@waxwing/service/http';
import type { Dispatcher } from 'undici';
import type { OutgoingAuthorities } from '../../network/outgoing-authorities.js';
import { isPublicAddress } from './public-addresses.js';

/** Network access for requests to servers' hosts. Tests replace it. */
export interface HostNetwork {
  /** Finds all addresses of a name. */
  readonly lookUp: (name: string) => Promise<readonly LookupAddress[]>;
  /** PEM of the trusted certificate authorities; the system's if `undefined`. Read for each question. */
  readonly authority?: string | string[] | undefined;
  readonly deadlineMilliseconds: number;
}

/** The network of this machine, with authorities that can be read again. */
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
  /** With the port, as `readHostname` returns it. */
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
 * Asks the host of a server by HTTPS GET. An unauthenticated client decides which host and when, so the question is bounded:
 * public addresses, no redirects, 5 seconds in all, 4096 bytes, ten at a time. The name is looked up once, and the
 * connection goes to an address that was checked: a name service could otherwise answer a second time with a private one.
 */
export class HostAsker {
  readonly #network: HostNetwork;
  #asking = 0;

  constructor(network: HostNetwork) {
    this.#network = network;
  }

  /** @throws ProtocolError BAD_REQUEST that says what failed; SERVICE_UNAVAILABLE while it asks ten hosts. */
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
      // Lazy import: a relay that no server joins by this needs no client. It follows no redirects.
      const { request } = await import('undici');
      const { statusCode, body } = await request(url, { dispatcher, signal });
      return { status: statusCode, text: await readAnswerText(body, maximumAnswerBytes) };
    } finally {
      await dispatcher.destroy();
    }
  }

  /** A lookup cannot be aborted: it goes on after the deadline, without anyone waiting for it. */
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

/** Converts a failure to a refusal. Names only its kind, so that clients cannot scan the relay's network by it. */
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
