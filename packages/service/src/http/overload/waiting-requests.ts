import type { IncomingMessage } from 'node:http';
import type { HttpLimits } from '../../http-settings/http-limits.js';

/** Requests on one connection that wait for the answer to the one before; one more ends the connection. */
const maximumOnOneConnection = 100;
/** Of everybody so much may wait for each request, and each byte of a body, that may be in flight. */
const waitingPart = 1 / 10;
/** More of a body is not read before its turn comes: Node takes it from the connection in pieces of this size. */
const mostReadAhead = 64 * 1024;

/** Counts the requests that wait behind others on their connections: their heads and bodies are in memory already. */
export class WaitingRequests {
  readonly #limits: Pick<HttpLimits, 'maximumRequestsInFlight' | 'maximumBodyBytesInFlight'>;
  #count = 0;
  #bodyBytes = 0;

  constructor(limits: Pick<HttpLimits, 'maximumRequestsInFlight' | 'maximumBodyBytesInFlight'>) {
    this.#limits = limits;
  }

  /** Bytes of their bodies that are in memory, at most. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /** Whether there is room for one more, behind so many on its own connection. A body passes when there is no other. */
  hasRoom(request: IncomingMessage, onItsConnection: number): boolean {
    const bytes = bytesReadAhead(request);
    const { maximumBodyBytesInFlight, maximumRequestsInFlight } = this.#limits;
    const areBytesTooMany =
      bytes > 0 && this.#bodyBytes > 0 && this.#bodyBytes + bytes > maximumBodyBytesInFlight * waitingPart;
    return (
      onItsConnection < maximumOnOneConnection &&
      this.#count < maximumRequestsInFlight * waitingPart &&
      !areBytesTooMany
    );
  }

  begin(request: IncomingMessage): void {
    this.#add(request, 1);
  }

  end(request: IncomingMessage): void {
    this.#add(request, -1);
  }

  #add(request: IncomingMessage, sign: 1 | -1): void {
    this.#count += sign;
    this.#bodyBytes += sign * bytesReadAhead(request);
  }
}

/** How much of a body is in memory before anybody reads it, at most. */
function bytesReadAhead({ headers }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return mostReadAhead;
  return Math.min(Number(headers['content-length'] ?? 0), mostReadAhead);
}
