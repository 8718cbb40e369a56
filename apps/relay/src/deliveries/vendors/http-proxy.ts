import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import type { Socket } from 'node:net';
import { type Duplex, duplexPair, pipeline } from 'node:stream';
import type { Secret } from '@waxwing/service/config';
import { describeConnectTrouble } from '@waxwing/service/lifecycle';
import { authoritiesSetting, type OutgoingAuthorities } from '../../network/outgoing-authorities.js';

const timeoutMilliseconds = 10_000;

/** An HTTP proxy that tunnels connections to the vendors (https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6). */
export class HttpProxy {
  readonly #url: Secret<string>;
  readonly #authorities: Pick<OutgoingAuthorities, 'trusted'>;

  /** @param url may contain a user name and a password. */
  constructor(url: Secret<string>, authorities: Pick<OutgoingAuthorities, 'trusted'>) {
    this.#url = url;
    this.#authorities = authorities;
  }

  /**
   * Opens a tunnel.
   * @param target host and port, such as `fcm.googleapis.com:443`.
   * @throws Error, whose message names the setting, if the proxy is unreachable or refuses to open the tunnel.
   */
  open(target: string): Promise<Socket> {
    const url = new URL(this.#url.reveal());
    const request = (url.protocol === 'https:' ? requestTls : requestPlain)({
      method: 'CONNECT',
      host: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: target,
      headers: { host: target, ...authorizationOf(url) },
      agent: false,
      ca: this.#authorities.trusted,
      timeout: timeoutMilliseconds,
    });
    return new Promise((resolve, reject) => {
      request.once('connect', ({ statusCode }, socket, head) => {
        if (statusCode === 200) {
          socket.setTimeout(0);
          if (head.length > 0) socket.unshift(head);
          return resolve(socket as Socket);
        }
        socket.destroy();
        reject(new Error(`the proxy of RELAY_PROXY answers ${statusCode} to CONNECT ${target}`));
      });
      request.once('timeout', () => request.destroy(new Error('it does not answer')));
      request.once('error', (cause) => {
        const why = describeConnectTrouble(cause, authoritiesSetting) ?? cause.message;
        reject(new Error(`the proxy of RELAY_PROXY cannot be reached: ${why}`, { cause }));
      });
      request.end();
    });
  }

  /** Starts to open a tunnel, and returns its local end immediately. Buffers writes until the tunnel is open. */
  stream(target: string): Duplex {
    const [near, far] = duplexPair();
    this.open(target).then(
      (socket) => {
        if (near.destroyed) return void socket.destroy();
        near.once('close', () => socket.destroy());
        pipeline(far, socket, far, (error) => near.destroy(error ?? undefined));
      },
      (error: Error) => near.destroy(error),
    );
    return near;
  }
}

function authorizationOf({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
