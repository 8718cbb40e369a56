import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import {
  addressGroup,
  forwardedElement,
  privateAddresses,
  readForwardedAddress,
} from '../../http-settings/client-address.js';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Log } from '../../logging/create-logger.js';

interface ClientAddressesOptions {
  readonly limits: Pick<HttpLimits, 'trustedProxies'>;
  readonly log: Log;
  /** Prefix of the program's settings, such as `RELAY_`. */
  readonly settingsPrefix: string;
}

/** All requests with an unreadable forwarded address count as this one client. */
const unreadableClient = 'unreadable';
const loggedCharacters = 100;

/** Determines the client addresses of connections and requests. IPv6 addresses are grouped by /64. */
export class ClientAddresses {
  readonly #options: ClientAddressesOptions;
  #hasWarnedOfProxy = false;
  #hasWarnedOfUnreadable = false;
  #hasWarnedOfForwarded = false;

  constructor(options: ClientAddressesOptions) {
    this.#options = options;
  }

  /**
   * Returns the client address of a request. Returns `undefined` if the address is unknown because the connection is
   * closed, or because its peer is probably a proxy that is not configured as trusted.
   */
  of(request: IncomingMessage): string | undefined {
    return this.forwardedBy(request) ?? this.limited(request.socket);
  }

  /** Like {@link of}, but returns the connection's address if the client's address is unknown. */
  nearest(request: IncomingMessage): string {
    return this.forwardedBy(request) ?? addressGroup(request.socket.remoteAddress ?? '');
  }

  /**
   * Returns the client that a trusted proxy reports in `X-Forwarded-For`, or `undefined` if the request did not come
   * through a trusted proxy. If the proxy reports no client, the proxy itself counts as the client. All unreadable
   * addresses count as one client, so that malformed addresses do not bypass the limits.
   */
  forwardedBy({ headers, socket }: IncomingMessage): string | undefined {
    if (!this.isForwarding(socket)) return undefined;
    const { remoteAddress = '' } = socket;
    const element = forwardedElement(
      String(headers['x-forwarded-for'] ?? ''),
      this.#options.limits.trustedProxies,
    );
    if (element === undefined) {
      if (headers.forwarded !== undefined) this.#warnOfForwarded(remoteAddress);
      return addressGroup(remoteAddress);
    }
    const address = readForwardedAddress(element);
    if (address !== undefined) return addressGroup(address);
    this.#warnOfUnreadable(remoteAddress, element);
    return unreadableClient;
  }

  /** Whether the connection is from a trusted proxy and may therefore carry requests from many clients. */
  isForwarding(socket: Socket): boolean {
    const { trustedProxies } = this.#options.limits;
    return !trustedProxies.isEmpty && trustedProxies.has(socket.remoteAddress ?? '');
  }

  /**
   * Returns the address that the connection limit applies to. Returns `undefined` for a trusted proxy, and for a
   * probable proxy that is not configured as trusted.
   */
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
        `connections from private addresses are not limited individually: name the proxies in front of this process in ${settingsPrefix}TRUSTED_PROXIES`,
      );
    }
    return undefined;
  }

  #warnOfForwarded(address: string): void {
    if (this.#hasWarnedOfForwarded) return;
    this.#hasWarnedOfForwarded = true;
    const { log, settingsPrefix } = this.#options;
    log.warn(
      { address },
      `a proxy of ${settingsPrefix}TRUSTED_PROXIES forwards Forwarded without X-Forwarded-For, and all such requests count as the proxy's own: configure it to set X-Forwarded-For`,
    );
  }

  #warnOfUnreadable(address: string, element: string): void {
    if (this.#hasWarnedOfUnreadable) return;
    this.#hasWarnedOfUnreadable = true;
    const { log, settingsPrefix } = this.#options;
    log.warn(
      { address, forwarded: element.slice(0, loggedCharacters) },
      `a proxy of ${settingsPrefix}TRUSTED_PROXIES forwards an X-Forwarded-For that is not an IP address, and all such requests count as one client: configure it to send the client's address`,
    );
  }
}
