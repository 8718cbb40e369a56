import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AdminContext, answerError, handleAdminRequest } from './admin/admin-routes.js';
import { handleSendRequest, type SendEndpointContext } from './fcm/send-endpoint.js';
import { handleTokenRequest, type TokenEndpointContext } from './fcm/token-endpoint.js';
import { listenOnPort } from './listen.js';
import type { ConnectionCounts } from './statistics.js';

export interface HttpListenerContext {
  readonly fcm: SendEndpointContext;
  readonly oauth: TokenEndpointContext;
  readonly admin: AdminContext;
  readonly connections: ConnectionCounts;
}

/** Idle timeout of connections. The same as Google's, so that senders' connection pools behave as in production. */
const keepAliveMilliseconds = 240_000;

/** Plain HTTP listener for FCM, Google's token endpoint, and the stand-ins' admin API. */
export class HttpListener {
  readonly #server: Server;

  constructor({ fcm, oauth, admin, connections }: HttpListenerContext) {
    this.#server = createServer({ keepAliveTimeout: keepAliveMilliseconds }, (request, response) => {
      const { url = '' } = request;
      if (url.startsWith('/v1/projects/')) handleSendRequest(request, response, fcm);
      else if (url === '/token' || url.startsWith('/token?')) handleTokenRequest(request, response, oauth);
      else if (!handleAdminRequest(request, response, admin)) answerUnknownPath(request, response);
    });
    this.#server.on('connection', (socket) => {
      connections.opened += 1;
      connections.open += 1;
      socket.once('close', () => {
        connections.open -= 1;
      });
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

function answerUnknownPath({ method, url }: IncomingMessage, response: ServerResponse): void {
  answerError(
    response,
    404,
    `there is nothing at ${method} ${url}; the endpoints are POST /v1/projects/{project}/messages:send, POST /token, /deliveries, /faults and /stats`,
  );
}
