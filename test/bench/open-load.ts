import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { answerLength } from './http-load.js';

export interface OpenLoadOptions {
  readonly port: number;
  /**
   * Number of connections, each with at most one request in flight. The load generator queues further due requests, and
   * their waiting time counts.
   */
  readonly connections: number;
  /** The bytes of a request, headers included. */
  nextRequest(): Buffer;
}

/** Results of requests that were due at a fixed rate. */
export interface OpenLoadReport {
  /** Milliseconds from each successful request's due time to its response, unordered. */
  readonly successes: readonly number[];
  /** Milliseconds from due time to response for each request that got 503 with `Retry-After`. */
  readonly refusals: readonly number[];
  /**
   * Milliseconds by which the load generator itself was late at each check. It shares the machine with the measured
   * process.
   */
  readonly ownMilliseconds: readonly number[];
}

interface Driven {
  readonly socket: Socket;
  received: Buffer;
  dueAt: number;
}

const tickMilliseconds = 4;
const patienceMilliseconds = 15_000;
const statusAt = 'HTTP/1.1 '.length;
const retryAfter = /\r\nretry-after: \d+\r\n/i;

/** Open-loop load generator: sends requests at a fixed rate, like many independent users. */
export class OpenLoad {
  readonly #options: OpenLoadOptions;
  readonly #sockets: readonly Socket[];
  readonly #free: Driven[];
  readonly #due: number[] = [];
  #successes: number[] = [];
  #refusals: number[] = [];
  #unanswered = 0;
  #failure: Error | undefined;

  private constructor(options: OpenLoadOptions, sockets: readonly Socket[]) {
    this.#options = options;
    this.#sockets = sockets;
    this.#free = sockets.map((socket) => ({ socket, received: Buffer.alloc(0), dueAt: 0 }));
    for (const driven of this.#free) this.#listen(driven);
  }

  /** Opens the connections, which all runs share. */
  static async open(options: OpenLoadOptions): Promise<OpenLoad> {
    const opening = Array.from({ length: options.connections }, async () => {
      const socket = connect({ port: options.port, host: '127.0.0.1', noDelay: true });
      await once(socket, 'connect');
      return socket;
    });
    return new OpenLoad(options, await Promise.all(opening));
  }

  /**
   * Sends requests for `milliseconds` at `perSecond`, whether or not earlier requests have got a response, and waits
   * for all responses.
   * @throws Error for a response that is neither a success nor 503 with `Retry-After`, and if a response is missing
   * after 15 seconds.
   */
  async run(milliseconds: number, perSecond: number): Promise<OpenLoadReport> {
    const startedAt = performance.now();
    const ownMilliseconds: number[] = [];
    let begun = 0;
    const total = Math.round((milliseconds * perSecond) / 1000);
    while (begun < total || this.#unanswered > 0) {
      const lookAt = performance.now() + tickMilliseconds;
      await new Promise((resolve) => setTimeout(resolve, tickMilliseconds));
      if (this.#failure !== undefined) throw this.#failure;
      ownMilliseconds.push(Math.max(0, performance.now() - lookAt));
      const elapsed = performance.now() - startedAt;
      if (elapsed > milliseconds + patienceMilliseconds) {
        throw new Error(
          `${this.#unanswered} requests had no answer ${patienceMilliseconds} ms after the last`,
        );
      }
      for (; begun < Math.min(total, (elapsed * perSecond) / 1000); begun += 1) {
        this.#begin(startedAt + (begun * 1000) / perSecond);
      }
    }
    const report = { successes: this.#successes, refusals: this.#refusals, ownMilliseconds };
    this.#successes = [];
    this.#refusals = [];
    return report;
  }

  /**
   * Keeps `underWay` requests in flight for `milliseconds`. Returns the number of successful responses per second.
   * @throws the errors of {@link run}.
   */
  async saturate(milliseconds: number, underWay: number): Promise<number> {
    const startedAt = performance.now();
    while (performance.now() - startedAt < milliseconds) {
      while (this.#unanswered < underWay) this.#begin(performance.now());
      await new Promise((resolve) => setTimeout(resolve, 1));
      if (this.#failure !== undefined) throw this.#failure;
    }
    const perSecond = (this.#successes.length * 1000) / (performance.now() - startedAt);
    await this.run(0, 0);
    return perSecond;
  }

  close(): void {
    for (const socket of this.#sockets) socket.removeAllListeners('close').destroy();
  }

  #begin(dueAt: number): void {
    this.#unanswered += 1;
    // Uses the connections round-robin, because the server closes a connection that is idle for too long.
    const driven = this.#free.shift();
    if (driven === undefined) this.#due.push(dueAt);
    else this.#send(driven, dueAt);
  }

  #send(driven: Driven, dueAt: number): void {
    driven.dueAt = dueAt;
    driven.socket.write(this.#options.nextRequest());
  }

  #listen(driven: Driven): void {
    const { socket } = driven;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#failure ??= new Error('the other side closed a connection');
    });
    socket.on('data', (chunk: Buffer) => {
      driven.received = driven.received.length === 0 ? chunk : Buffer.concat([driven.received, chunk]);
      const length = answerLength(driven.received);
      if (length === undefined || driven.received.length < length) return;
      this.#note(driven.received.toString('latin1', 0, length), performance.now() - driven.dueAt);
      this.#unanswered -= 1;
      driven.received = driven.received.subarray(length);
      const dueAt = this.#due.shift();
      if (dueAt === undefined) this.#free.push(driven);
      else this.#send(driven, dueAt);
    });
  }

  #note(answer: string, milliseconds: number): void {
    const status = answer.slice(statusAt, statusAt + 4);
    if (status === '200 ') this.#successes.push(milliseconds);
    else if (status === '503 ' && retryAfter.test(answer)) this.#refusals.push(milliseconds);
    else this.#failure ??= new Error(`the answer is neither 200 nor 503 with Retry-After: ${answer}`);
  }
}
