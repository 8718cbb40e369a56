import { buildConnector } from 'undici';
import type { HttpProxy } from './http-proxy.js';

/** Returns an undici connector that connects through `proxy`, or directly if `proxy` is `undefined`. */
export function connectThrough(
  proxy: HttpProxy | undefined,
  options: buildConnector.BuildOptions,
): buildConnector.connector {
  const connect = buildConnector(options);
  if (proxy === undefined) return connect;
  return (target, connected) => {
    const isTls = target.protocol === 'https:';
    proxy.open(`${target.hostname}:${target.port || (isTls ? 443 : 80)}`).then(
      (socket) => {
        if (isTls) connect({ ...target, httpSocket: socket }, connected);
        else connected(null, socket);
      },
      (error: Error) => connected(error, null),
    );
  };
}
