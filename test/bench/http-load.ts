import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface HttpLoadOptions {
  readonly port: number;
  /** Number of connections. Each keeps one request in flight throughout a run. */
  readonly connections: number;
  /** The bytes of a request, headers included. */
  nextRequest(): Buffer;
  /** String that a response must contain to count. Default: every response with HTTP status 200 counts. */
  readonly expected?: string;
  /** Called for each response that counts, with the milliseconds since its request was sent. */
  onSuccess?(milliseconds: number): void;
}

const endOfHeaders = Buffer.from('\r\n\r\n');
const success = Buffer.from('HTTP/1.1 200 ');
/** Response of an overloaded server. It does not count, and the generator sends the next request. */
const overload = Buffer.from('HTTP/1.1 503 ');

/**
 * Load generator that saturates an HTTP server on loopback at low cost: it counts responses but does not parse them.
 */
export class HttpLoad {
  readonly #sockets: readonly Socket[];
  readonly #options: HttpLoadOptions;

  private constructor(sockets: readonly Socket[], options: HttpLoadOptions) {
    this.#sockets = sockets;
    this.#options = options;
  }

  /** Opens the connections, which all runs share. */
  static async open(options: HttpLoadOptions): Promise<HttpLoad> {
    const sockets = await Promise.all(
      Array.from({ length: options.connections }, async () => {
        const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
        await once(socket, 'connect');
        // The close event then rejects pending requests; without this listener, the process would exit without an
        // error.
        socket.on('error', () => undefined);
        return socket;
      }),
    );
    return new HttpLoad(sockets, options);
  }

  /**
   * Returns the successful responses per second over `milliseconds`.
   * @throws Error for any other response except 503.
   */
  async run(milliseconds: number): Promise<number> {
    const start = performance.now();
    return this.until(() => performance.now() - start >= milliseconds);
  }

  /** Returns the successful responses per second until `isOver`. @throws Error for any other response except 503. */
  async until(isOver: () => boolean): Promise<number> {
    const start = performance.now();
    const counts = await Promise.all(this.#sockets.map((socket) => this.#drive(socket, isOver)));
    const answers = counts.reduce((sum, count) => sum + count, 0);
    return (answers * 1000) / (performance.now() - start);
  }

  /**
   * Runs until `answers` successful responses have arrived, regardless of the machine's speed.
   * @throws Error if every request in a second is refused.
   */
  async repeat(answers: number): Promise<void> {
    for (let answered = 0; answered < answers; ) {
      const start = performance.now();
      const rate = await this.run(1000);
      if (rate === 0) throw new Error('every request was refused');
      answered += (rate * (performance.now() - start)) / 1000;
    }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Sends requests one after another. Resolves to the number of successful responses. */
  #drive(socket: Socket, isOver: () => boolean): Promise<number> {
    const { nextRequest, expected = '', onSuccess } = this.#options;
    return new Promise((resolve, reject) => {
      let answers = 0;
      let sentAt = 0;
      const send = (): void => {
        sentAt = performance.now();
        socket.write(nextRequest());
      };
      let received: Buffer = Buffer.alloc(0);
      const stop = (): void => void socket.removeAllListeners('data').removeAllListeners('close');
      socket.on('close', () => reject(new Error('the server closed a connection')));
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const length = answerLength(received);
        if (length === undefined || received.length < length) return;
        const isSuccess = startsWith(received, success) && received.includes(expected);
        if (!isSuccess && !startsWith(received, overload)) {
          stop();
          reject(new Error(`the server refused: ${received.toString('utf8')}`));
          return;
        }
        received = received.subarray(length);
        if (isSuccess) {
          answers += 1;
          onSuccess?.(performance.now() - sentAt);
        }
        if (!isOver()) {
          send();
          return;
        }
        stop();
        resolve(answers);
      });
      send();
    });
  }
}

function startsWith(bytes: Buffer, start: Buffer): boolean {
  return bytes.subarray(0, start.length).equals(start);
}

/** Returns the length in bytes of the first response with its body; `undefined` while its headers are incomplete. */
export function answerLength(received: Buffer): number | undefined {
  const end = received.indexOf(endOfHeaders);
  if (end < 0) return undefined;
  const length = /content-length: (\d+)/i.exec(received.toString('latin1', 0, end))?.[1];
  return end + endOfHeaders.length + Number(length ?? 0);
}
