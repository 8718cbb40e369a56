import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands in for Google: accepts messages, and delays each response until the test releases it. */
export class HoldingGoogle {
  /** Unanswered requests, oldest first. */
  readonly held: ServerResponse[] = [];
  mostAtOnce = 0;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      this.held.push(response);
      this.mostAtOnce = Math.max(this.mostAtOnce, this.held.length);
    });
  }

  static async start(): Promise<HoldingGoogle> {
    const google = new HoldingGoogle();
    await new Promise<void>((resolve) => google.#server.listen(0, '127.0.0.1', resolve));
    return google;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Responds to one of these requests with success. */
  accept(response: ServerResponse | undefined): void {
    response?.writeHead(200, { 'content-type': 'application/json' }).end('{"name":"projects/x/messages/1"}');
  }

  async close(): Promise<void> {
    for (const response of this.held.splice(0)) this.accept(response);
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeIdleConnections();
    await closed;
  }
}
