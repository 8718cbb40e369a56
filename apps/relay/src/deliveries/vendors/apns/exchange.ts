import type { ClientHttp2Stream } from 'node:http2';
import type { UnansweredReason } from '../vendor-sender.js';
import type { ApnsNotification } from './message.js';

/** How one request on a connection ended. */
export type ApnsEnding =
  | ApnsAnswer
  /** APNs provably did not process it: it can be sent again without a duplicate. */
  | { readonly kind: 'not-processed'; readonly because: 'connection-ended' | 'refused' }
  | { readonly kind: 'unanswered'; readonly why: 'TIMED_OUT' | 'BROKEN_OFF' };

interface ApnsAnswer {
  readonly kind: 'answered';
  readonly httpStatus: number;
  readonly body: string;
  readonly retryAfter: string | undefined;
}

/** What came of a request in the end, over however many connections. */
export type ApnsResult = ApnsAnswer | { readonly kind: 'unanswered'; readonly why: UnansweredReason };

export interface ApnsRequest {
  readonly notification: ApnsNotification;
  /** The `authorization` header. */
  readonly authorization: string;
  /** In Unix milliseconds: what has not got a stream by then is answered OVERLOADED. */
  readonly notAfter: number;
}

/**
 * One request from the waiting line to its end. It is one object, and what is heard on its stream is written into it,
 * because a thousand are under way at a time and the garbage collector pays for every closure among them.
 */
export class ApnsExchange {
  readonly request: ApnsRequest;
  readonly resolve: (result: ApnsResult) => void;
  /** How often it was sent again, and why. */
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

  /** Begins again on a stream. */
  open(stream: ClientHttp2Stream, now: number): void {
    this.stream = stream;
    this.startedAt = now;
    this.httpStatus = undefined;
    this.retryAfter = undefined;
    this.body = '';
  }
}
