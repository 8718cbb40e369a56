import type { IncomingMessage } from 'node:http';

const intervalMilliseconds = 10;
/**
 * If a socket delivers fewer bytes than this, the next socket is read in the same round. libuv reads up to 2 MiB from a
 * socket per tick.
 */
const fewBytes = 64 * 1024;

/**
 * Reads and discards the rest of large request bodies slowly: every 10 ms from one connection, round-robin. A client
 * that ignores refusals can keep sending megabytes on many connections, and reading them at full speed would fill every
 * event-loop tick.
 */
export class SlowReader {
  /** Requests with a paused socket, longest paused first. */
  readonly #requests = new Set<IncomingMessage>();
  #isReading = false;

  /** Takes over the socket until the whole body has arrived or the connection is closed. */
  add(request: IncomingMessage): void {
    this.#pause(request);
    if (this.#isReading) return;
    this.#isReading = true;
    this.#waitForRound();
  }

  #waitForRound(): void {
    setTimeout(() => this.#readNext(this.#requests.size), intervalMilliseconds).unref();
  }

  /** Reads from up to `most` sockets, one after another. Stops early after a socket that delivered many bytes. */
  #readNext(most: number): void {
    const [request] = this.#requests;
    this.#isReading = request !== undefined;
    if (request === undefined) return;
    this.#requests.delete(request);
    const { socket } = request;
    const bytesBefore = socket.bytesRead;
    socket.resume();
    // The event loop polls sockets before it runs immediates, so by then the socket has delivered everything that has
    // arrived.
    setImmediate(() => {
      if (!request.complete && !socket.destroyed) this.#pause(request);
      if (most > 1 && socket.bytesRead - bytesBefore < fewBytes) this.#readNext(most - 1);
      else this.#waitForRound();
    });
  }

  #pause(request: IncomingMessage): void {
    request.socket.pause();
    this.#requests.add(request);
  }
}
