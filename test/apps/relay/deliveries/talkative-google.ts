import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const unregistered = JSON.stringify({ error: { code: 404, status: 'UNREGISTERED' } });
const tokenAnswer = JSON.stringify({ access_token: 'token', expires_in: 3600 });

/** A Google stand-in that appends extra bytes to its responses: a given number, or an endless stream. */
export class TalkativeGoogle {
  connections = 0;
  messages = { status: 404, more: 0 };
  oauth = { status: 200, more: 0 };
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      const isOauth = request.url === '/token';
      answer(response, isOauth ? this.oauth : this.messages, isOauth ? tokenAnswer : unregistered);
    });
    this.#server.on('connection', () => {
      this.connections += 1;
    });
  }

  static async start(): Promise<TalkativeGoogle> {
    const google = new TalkativeGoogle();
    await new Promise<void>((resolve) => google.#server.listen(0, '127.0.0.1', resolve));
    return google;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function answer(response: ServerResponse, { status, more }: { status: number; more: number }, words: string) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.write(words);
  if (Number.isFinite(more)) {
    response.end(' '.repeat(more));
    return;
  }
  const goOn = (): void => {
    if (!response.destroyed) response.write(' '.repeat(4096), () => setImmediate(goOn));
  };
  goOn();
}
