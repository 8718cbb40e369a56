import type { ClientHttp2Stream } from 'node:http2';
import type { UnansweredReason } from '../vendor-sender.js';
import type { ApnsNotification } from './message.js';

/** How one request ended on one connection. */
export type ApnsEnding =
  | ApnsAnswer
  /** APNs provably did not process the request, so resending cannot cause a duplicate. */
  | { readonly kind: 'not-processed'; readonly because: 'connection-ended' | 'refused' }
  | { readonly kind: 'unanswered'; readonly why: 'TIMED_OUT' | 'BROKEN_OFF' };

interface ApnsAnswer {
  readonly kind: 'answered';
  readonly httpStatus: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** Final result of a request, after any resends on other connections. */
export type ApnsResult = ApnsAnswer | { readonly kind: 'unanswered'; readonly why: UnansweredReason };

export interface ApnsRequest {
  readonly notification: ApnsNotification;
  /** Value of the `authorization` header. */
  readonly authorization: string;
  /** Deadline in Unix milliseconds. A request that has no stream by then fails with OVERLOADED. */
  readonly notAfter: number;
}

/**
 * One request, from the queue to its result. Mutable, because its streams write into it: with a thousand requests in
 * flight, a closure per stream would burden the garbage collector.
 */
export class ApnsExchange {
  readonly request: ApnsRequest;
  readonly resolve: (result: ApnsResult) => void;
  /** Number of resends by cause. */
  readonly resends = { 'connection-ended': 0, refused: 0 };
  stream: ClientHttp2Stream | undefined;
  /** When the stream was opened, in Unix milliseconds. */
  startedAt = 0;
  httpStatus: number | undefined;
  retryAfter: string | undefined;
  body = '';

  constructor(request: ApnsRequest, resolve: (result: ApnsResult) => void) {
    this.request = request;
    this.resolve = resolve;
  }

  /** Resets the exchange for a new stream. */
  open(stream: ClientHttp2Stream, now: number): void {
    this.stream = stream;
    this.startedAt = now;
    this.httpStatus = undefined;
    this.retryAfter = undefined;
    this.body = '';
  }
}
