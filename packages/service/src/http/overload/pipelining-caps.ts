import type { IncomingMessage } from 'node:http';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import { longUrlBytes } from '../bodies/received-body.js';

const maximumPerConnection = 100;
/**
 * Fraction of the request limit, and of the body-byte limit, that the pipelined requests of all connections may use.
 */
const pipelinedPart = 1 / 10;
/**
 * Maximum number of bytes that Node reads from a connection at once. Node does not read more of a body until the
 * request is handled.
 */
const maximumReadAhead = 64 * 1024;

/**
 * Caps pipelined requests, which are queued behind another request on their connection. Without caps, their heads and
 * bodies could use up memory.
 */
export class PipeliningCaps {
  readonly #limits: Pick<HttpLimits, 'maximumRequestsInFlight' | 'maximumBodyBytesInFlight'>;
  #count = 0;
  #bodyBytes = 0;

  constructor(limits: Pick<HttpLimits, 'maximumRequestsInFlight' | 'maximumBodyBytesInFlight'>) {
    this.#limits = limits;
  }

  /** Upper bound for the memory used by bodies of pipelined requests, in bytes. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  /**
   * Whether there is room for one more request, behind `onItsConnection` others on its connection. A single body always
   * fits, regardless of its size.
   */
  hasRoom(request: IncomingMessage, onItsConnection: number): boolean {
    const bytes = bytesReadAhead(request);
    const { maximumBodyBytesInFlight, maximumRequestsInFlight } = this.#limits;
    const areBytesTooMany =
      bytes > 0 && this.#bodyBytes > 0 && this.#bodyBytes + bytes > maximumBodyBytesInFlight * pipelinedPart;
    return (
      onItsConnection < maximumPerConnection &&
      this.#count < maximumRequestsInFlight * pipelinedPart &&
      !areBytesTooMany
    );
  }

  add(request: IncomingMessage): void {
    this.#add(request, 1);
  }

  remove(request: IncomingMessage): void {
    this.#add(request, -1);
  }

  #add(request: IncomingMessage, sign: 1 | -1): void {
    this.#count += sign;
    this.#bodyBytes += sign * bytesReadAhead(request);
  }
}

function bytesReadAhead({ headers, url }: IncomingMessage): number {
  if (headers['transfer-encoding'] !== undefined) return longUrlBytes(url) + maximumReadAhead;
  return longUrlBytes(url) + Math.min(Number(headers['content-length'] ?? 0), maximumReadAhead);
}
