import { type ConnectTrouble, findConnectTrouble } from '@waxwing/service/lifecycle';
import type { RelayNetwork } from '../server-push-options.js';
import type { RelayRetry } from './relay-answer.js';

/** The network path to the relay, for messages. */
export interface WayToRelay {
  readonly url: string;
  readonly network: RelayNetwork;
  readonly timeoutMilliseconds: number;
}

/** Determines why a request to the relay got no response. */
export function findRelayTrouble(
  error: unknown,
  { network, timeoutMilliseconds }: Omit<WayToRelay, 'url'>,
): ConnectTrouble {
  const { proxyUrl, proxySetting = 'the setting of the proxy', authoritiesSetting } = network;
  const trouble = findConnectTrouble(error, authoritiesSetting) ?? otherTrouble(error, timeoutMilliseconds);
  // The failed connection may be the connection to the proxy.
  if (proxyUrl === undefined || trouble.step === 'tls') return trouble;
  return { ...trouble, remedy: `${trouble.remedy}; also check the proxy in ${proxySetting}` };
}

function otherTrouble(error: unknown, timeoutMilliseconds: number): ConnectTrouble {
  const { name, code = name, message } = error as NodeJS.ErrnoException;
  const remedy = 'check its address and the network';
  if (name === 'TimeoutError') {
    const what = `it did not answer within ${timeoutMilliseconds / 1000} s`;
    return { step: 'connection', what, remedy };
  }
  // undici reports the proxy's status only in the message.
  const [, status] = /^Proxy response \((\d{3})\)/.exec(message) ?? [];
  if (status === undefined) return { step: 'connection', what: code, remedy };
  const access = status === '407' ? 'its user name and password' : 'that it opens tunnels to the relay';
  return { step: 'connection', what: `the proxy answers ${status}`, remedy: `check ${access}` };
}

/** Returns the outcome of a relay request that got no response. */
export function unreachableRelay(error: unknown, way: WayToRelay): RelayRetry {
  const { what, remedy } = findRelayTrouble(error, way);
  return {
    kind: 'retry',
    cause: 'unreachable',
    reason: `the relay at ${way.url} cannot be reached: ${what}: ${remedy}`,
    retryAfterSeconds: undefined,
    httpStatus: undefined,
  };
}
