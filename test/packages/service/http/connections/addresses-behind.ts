import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { AddressRanges } from '@waxwing/service/http-settings';
import { ClientAddresses } from '#service/http/connections/client-addresses.js';
import { createMemoryLog } from '../../../../support/memory-log.js';

/** Creates a function that determines client addresses behind these trusted proxies, and records the warnings. */
export function addressesBehind(...proxies: string[]) {
  const logged = createMemoryLog();
  const addresses = new ClientAddresses({
    limits: { trustedProxies: new AddressRanges(proxies) },
    log: logged.log,
    settingsPrefix: 'RELAY_',
  });
  /** Returns the client address and the warnings for a request on a connection from `remoteAddress`. */
  const said = (remoteAddress: string | undefined, forwardedFor?: string | string[], forwarded?: string) => {
    const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
    const request = new IncomingMessage(socket);
    // Node joins repeated headers, although its types also allow a list.
    if (forwardedFor !== undefined) Object.assign(request.headers, { 'x-forwarded-for': forwardedFor });
    if (forwarded !== undefined) Object.assign(request.headers, { forwarded });
    return {
      of: addresses.of(request),
      nearest: addresses.nearest(request),
      forwardedBy: addresses.forwardedBy(request),
      limited: addresses.limited(socket),
      isForwarding: addresses.isForwarding(socket),
    };
  };
  return { said, warnings: () => logged.lines().filter(({ level }) => level === 'warn') };
}
