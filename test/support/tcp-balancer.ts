import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { joinSockets } from './join-sockets.js';

/** A TCP load balancer for several processes. Round-robin; skips processes that refuse connections. */
export class TcpBalancer {
  readonly #ports: readonly number[];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((near) => this.#join(near, this.#ports.length));
  }

  /** Starts listening on loopback, for processes on loopback. */
  static async start(ports: readonly number[]): Promise<TcpBalancer> {
    const balancer = new TcpBalancer(ports);
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #join(near: Socket, tries: number): void {
    const port = this.#ports[this.#turn++ % this.#ports.length] ?? 0;
    const far = connect(port, '127.0.0.1');
    let isConnected = false;
    far.once('connect', () => {
      isConnected = true;
      joinSockets(near, far, this.#sockets);
    });
    far.on('error', () => {
      if (isConnected || tries <= 1) near.destroy();
      else this.#join(near, tries - 1);
    });
  }
}
