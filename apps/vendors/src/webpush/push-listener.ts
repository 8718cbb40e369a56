import { createServer, type Server } from 'node:https';
import type { Socket } from 'node:net';
import type { TlsIdentity } from '../credentials/make-certificate.js';
import { listenOnPort } from '../listen.js';
import { OpenSockets } from '../open-sockets.js';
import type { ConnectionCounts } from '../statistics.js';
import { handlePushRequest, type PushEndpointContext } from './push-endpoint.js';

export interface PushListenerContext extends Omit<PushEndpointContext, 'reset'> {
  readonly connections: ConnectionCounts;
  readonly tls: TlsIdentity;
}

const keepAliveMilliseconds = 60_000;

/** TLS listener for the push service stand-in (Web Push, UnifiedPush). */
export class PushListener {
  readonly #server: Server;
  readonly #sockets: OpenSockets;

  constructor(context: PushListenerContext) {
    const { tls, connections } = context;
    const options = { cert: tls.certificate, key: tls.privateKey, keepAliveTimeout: keepAliveMilliseconds };
    const reset = ({ socket }: { readonly socket: Socket }) =>
      void this.#sockets.below(socket)?.resetAndDestroy();
    this.#server = createServer(options, (request, response) =>
      handlePushRequest(request, response, { ...context, reset }),
    );
    this.#sockets = new OpenSockets(this.#server, connections);
    this.#server.on('tlsClientError', (error: Error) => {
      context.log(`webpush: a TLS handshake failed: ${error.message}`);
    });
  }

  /** Starts listening. @param port 0 picks any free port. @returns the port. */
  listen(host: string, port: number): Promise<number> {
    return listenOnPort(this.#server, host, port);
  }

  /** Stops listening and drops every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }
}
