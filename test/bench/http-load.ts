import { connect, type Socket } from 'node:net';

export interface HttpLoadOptions {
  readonly port: number;
  /** Each has one request under way at any time. */
  readonly connections: number;
  /** The bytes of a request, headers included. */
  nextRequest(): Buffer;
}

const endOfHeaders = Buffer.from('\r\n\r\n');
const success = Buffer.from('HTTP/1.1 200 ');

/** Saturates an HTTP server on loopback at little cost of its own: answers are counted, not parsed. */
export class HttpLoad {
  readonly #options: HttpLoadOptions;

  constructor(options: HttpLoadOptions) {
    this.#options = options;
  }

  /** Successful answers per second over `milliseconds`. @throws Error for an answer other than 200. */
  async run(milliseconds: number): Promise<number> {
    const { connections } = this.#options;
    let answers = 0;
    const until = performance.now() + milliseconds;
    const start = performance.now();
    const isOver = (): boolean => performance.now() >= until;
    await Promise.all(
      Array.from({ length: connections }, () =>
        this.#drive(isOver, () => {
          answers += 1;
        }),
      ),
    );
    return (answers * 1000) / (performance.now() - start);
  }

  #drive(isOver: () => boolean, answered: () => void): Promise<void> {
    const { port, nextRequest } = this.#options;
    return new Promise((resolve, reject) => {
      const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
      let received: Buffer = Buffer.alloc(0);
      socket.on('connect', () => socket.write(nextRequest()));
      socket.on('error', reject);
      socket.on('close', () => resolve());
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const length = answerLength(received);
        if (length === undefined || received.length < length) return;
        if (!received.subarray(0, success.length).equals(success)) {
          reject(new Error(`the server refused: ${received.toString('utf8')}`));
          socket.destroy();
          return;
        }
        received = received.subarray(length);
        answered();
        if (isOver()) socket.end();
        else socket.write(nextRequest());
      });
    });
  }
}

/** Bytes of the answer at the front, headers and body; `undefined` while its headers are not there in full. */
function answerLength(received: Buffer): number | undefined {
  const end = received.indexOf(endOfHeaders);
  if (end < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1];
  return end + endOfHeaders.length + Number(length ?? 0);
}
