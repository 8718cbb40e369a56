import type { Server, Socket } from 'node:net';
import type { ConnectionCounts } from './statistics.js';

type ClientAddress = Pick<Socket, 'remoteAddress' | 'remotePort'>;

/** Open TCP connections of a TLS listener, by the client's address and port. Also counts them. */
export class OpenSockets {
  readonly #sockets = new Map<string, Socket>();

  constructor(server: Server, connections: ConnectionCounts) {
    server.on('connection', (socket: Socket) => {
      const key = keyOf(socket);
      this.#sockets.set(key, socket);
      connections.opened += 1;
      connections.open += 1;
      socket.once('close', () => {
        this.#sockets.delete(key);
        connections.open -= 1;
      });
    });
  }

  /** Returns the TCP socket below a TLS socket. */
  below(encrypted: ClientAddress): Socket | undefined {
    return this.#sockets.get(keyOf(encrypted));
  }

  destroyAll(): void {
    for (const socket of this.#sockets.values()) socket.destroy();
  }
}

function keyOf({ remoteAddress, remotePort }: ClientAddress): string {
  return `${remoteAddress} ${remotePort}`;
}
