import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { TlsIdentity } from '../credentials/make-certificate.js';
import { listenOnPort } from '../listen.js';
import { OpenSockets } from '../open-sockets.js';
import type { ConnectionCounts } from '../statistics.js';
import { AcceptedApnsConnection, type ApnsContext } from './apns-connection.js';

export interface ApnsListenerContext extends ApnsContext {
  readonly connections: ConnectionCounts;
  readonly tls: TlsIdentity;
}

/** A socket with its undocumented handle. Only the handle can stop reading from a socket that HTTP/2 uses. */
interface SocketWithHandle {
  readonly _handle?: { readStop?(): number } | null;
}

/**
 * Flow-control window for 1,000 concurrent payloads. With the HTTP/2 default of 64 KiB, a sender would stall after
 * about 60 notifications.
 */
const connectionWindowBytes = 1000 * 5120;

/**
 * Listener for one of Apple's two environments. Accepts only HTTP/2 (by ALPN) over TLS 1.2 or later.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 */
export class ApnsListener {
  readonly #server: Http2SecureServer;
  readonly #context: ApnsListenerContext;
  readonly #sockets: OpenSockets;
  readonly #connections = new Set<AcceptedApnsConnection>();

  constructor(context: ApnsListenerContext) {
    this.#context = context;
    this.#server = createSecureServer({
      cert: context.tls.certificate,
      key: context.tls.privateKey,
      minVersion: 'TLSv1.2',
      allowHTTP1: false,
      settings: { maxConcurrentStreams: context.faults.streamLimits(context.environment).initial },
    });
    this.#sockets = new OpenSockets(this.#server, context.connections);
    this.#acceptSessions();
    context.faults.onReplaced(() => this.#announceStreamLimits());
  }

  /** Starts listening. @param port 0 picks any free port. @returns the port. */
  listen(host: string, port: number): Promise<number> {
    return listenOnPort(this.#server, host, port);
  }

  /** Stops listening and drops every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#sockets.destroyAll();
    await closed;
  }

  #acceptSessions(): void {
    const { environment, log } = this.#context;
    this.#server.on('session', (session) => {
      session.setLocalWindowSize(connectionWindowBytes);
      const socket = this.#sockets.below(session.socket);
      const connection = new AcceptedApnsConnection(session, this.#context, () => stopReading(socket));
      this.#connections.add(connection);
      session.once('close', () => this.#connections.delete(connection));
    });
    this.#server.on('unknownProtocol', (socket: Socket) => {
      log(`apns ${environment}: refused a connection that did not negotiate h2 by ALPN`);
      socket.destroy();
    });
    this.#server.on('tlsClientError', (error: Error) => {
      log(`apns ${environment}: a TLS handshake failed: ${error.message}`);
    });
  }

  #announceStreamLimits(): void {
    const { initial } = this.#context.faults.streamLimits(this.#context.environment);
    this.#server.updateSettings({ maxConcurrentStreams: initial });
    for (const connection of this.#connections) connection.announceStreamLimit();
  }
}

function stopReading(socket: Socket | undefined): void {
  const handle = (socket as SocketWithHandle | undefined)?._handle;
  if (!handle?.readStop)
    throw new Error('This version of Node cannot stop reading from a socket: use Node 20 to 24.');
  handle.readStop();
}
