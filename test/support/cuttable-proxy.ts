import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { joinSockets } from './join-sockets.js';

/** A loopback TCP proxy that can disconnect its target and reconnect it, to simulate a restart of a database server. */
export class CuttableProxy {
  readonly #target: { readonly host: string; readonly port: number };
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  #port = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#target = target;
  }

  get port(): number {
    return this.#port;
  }

  /** Accepts connections again, on the same port. */
  async open(): Promise<void> {
    this.#server = createServer((near) => joinSockets(near, connect(this.#target), this.#sockets));
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Drops all data on open connections without closing them. New connections work. */
  silence(): void {
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Breaks all connections and refuses new ones. */
  async cut(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    const closed = server && once(server, 'close');
    server?.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
