import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { addressGroup, forwardedAddress, privateAddresses } from '../http-settings/client-address.js';
import type { HttpLimits } from '../http-settings/http-limits.js';
import type { Log } from '../logging/create-logger.js';

interface ClientAddressesOptions {
  readonly limits: Pick<HttpLimits, 'trustedProxies'>;
  readonly log: Log;
  /** What the names of the program's settings begin with, such as `RELAY_`. */
  readonly settingsPrefix: string;
}

/** Where connections and requests come from, IPv6 addresses by their /64. */
export class ClientAddresses {
  readonly #options: ClientAddressesOptions;
  #hasWarnedOfProxy = false;

  constructor(options: ClientAddressesOptions) {
    this.#options = options;
  }

  /**
   * The address that a request comes from; `undefined` where that cannot be said: a proxy does not say it, or is one that
   * nobody told us of.
   */
  of(request: IncomingMessage): string | undefined {
    return this.forwardedBy(request) ?? this.limited(request.socket);
  }

  /** The same, or the proxy's where that cannot be said. */
  nearest(request: IncomingMessage): string {
    return this.forwardedBy(request) ?? addressGroup(request.socket.remoteAddress ?? '');
  }

  /** For whom a trusted proxy passes a request on; `undefined` where it says nothing, or none did. */
  forwardedBy({ headers, socket }: IncomingMessage): string | undefined {
    if (!this.isForwarding(socket)) return undefined;
    const header = headers['x-forwarded-for'];
    const text = Array.isArray(header) ? header.join(',') : header;
    const client = forwardedAddress(text, this.#options.limits.trustedProxies);
    return client === undefined ? undefined : addressGroup(client);
  }

  /** Whether it is a trusted proxy's connection, over which many may ask. */
  isForwarding(socket: Socket): boolean {
    const { trustedProxies } = this.#options.limits;
    return !trustedProxies.isEmpty && trustedProxies.has(socket.remoteAddress ?? '');
  }

  /** The address that a connection counts for; none for a trusted proxy, or what is likely a proxy nobody told us of. */
  limited(socket: Socket): string | undefined {
    const { limits, log, settingsPrefix } = this.#options;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined || this.isForwarding(socket)) return undefined;
    if (!limits.trustedProxies.isEmpty || !privateAddresses.has(remoteAddress))
      return addressGroup(remoteAddress);
    if (!this.#hasWarnedOfProxy) {
      this.#hasWarnedOfProxy = true;
      log.warn(
        { address: remoteAddress },
        `connections from private addresses are not limited one by one: name the proxies before this process in ${settingsPrefix}TRUSTED_PROXIES`,
      );
    }
    return undefined;
  }
}
