import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { Socket } from 'node:net';
import type { TlsIdentity } from '../credentials/make-certificate.js';
import { listenOnPort } from '../listen.js';
import type { ConnectionCounts } from '../statistics.js';
import { AcceptedApnsConnection, type ApnsContext } from './apns-connection.js';

export interface ApnsListenerContext extends ApnsContext {
  readonly connections: ConnectionCounts;
  readonly tls: TlsIdentity;
}

/** The socket's undocumented handle: the only way to stop reading from a socket that HTTP/2 uses. */
interface SocketWithHandle {
  readonly _handle?: { readStop?(): number } | null;
}

/**
 * Flow-control window for a thousand concurrent payloads. With HTTP/2's default of 64 KiB a sender stalls after sixty
 * notifications.
 */
const connectionWindowBytes = 1000 * 5120;

/**
 * Listener for one of Apple's two environments: TLS 1.2 or later and HTTP/2 by ALPN, nothing else.
 * https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
 */
export class ApnsListener {
  readonly #server: Http2SecureServer;
  readonly #context: ApnsListenerContext;
  readonly #sockets = new Map<string, Socket>();
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
    this.#acceptConnections();
    context.faults.onReplaced(() => this.#announceStreamLimits());
  }

  /** @param port 0 picks any free port. @returns the port. */
  listen(host: string, port: number): Promise<number> {
    return listenOnPort(this.#server, host, port);
  }

  /** Stops listening and drops every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets.values()) socket.destroy();
    await closed;
  }

  #acceptConnections(): void {
    const { connections, environment, log } = this.#context;
    this.#server.on('connection', (socket: Socket) => {
      const key = socketKey(socket);
      this.#sockets.set(key, socket);
      connections.opened += 1;
      connections.open += 1;
      socket.once('close', () => {
        this.#sockets.delete(key);
        connections.open -= 1;
      });
    });
    this.#server.on('session', (session) => {
      session.setLocalWindowSize(connectionWindowBytes);
      const socket = this.#sockets.get(socketKey(session.socket));
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

function socketKey({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string {
  return `${remoteAddress} ${remotePort}`;
}

function stopReading(socket: Socket | undefined): void {
  const handle = (socket as SocketWithHandle | undefined)?._handle;
  if (!handle?.readStop)
    throw new Error('This version of Node does not let a socket stop reading: use Node 20 to 24.');
  handle.readStop();
}
