import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Clock } from '@waxwing/service';
import type { ApnsNotification } from './apns-notification.js';

export interface ApnsTimings {
  /** Time for one request, from its first byte to the whole answer. */
  readonly requestTimeoutMilliseconds: number;
  readonly connectTimeoutMilliseconds: number;
  /** A connection on which nothing happened for so long is asked whether it still lives. */
  readonly pingAfterIdleMilliseconds: number;
  /** How long that may take to be answered. */
  readonly pingTimeoutMilliseconds: number;
}

/** How one request ended. */
export type ApnsEnding =
  | {
      readonly kind: 'answered';
      readonly httpStatus: number;
      readonly body: string;
      readonly retryAfter: string | undefined;
    }
  /** APNs provably did not process it: it can be sent again without a duplicate. */
  | { readonly kind: 'not-processed'; readonly because: 'connection-ended' | 'refused' }
  | { readonly kind: 'unanswered'; readonly why: 'TIMED_OUT' | 'BROKEN_OFF' };

/** A request under way. */
export interface ApnsExchange {
  readonly notification: ApnsNotification;
  readonly authorization: string;
  end(ending: ApnsEnding, connection: ApnsConnection): void;
}

export interface ApnsConnectionOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly timings: ApnsTimings;
  readonly clock: Clock;
  /** Streams may have become free. */
  onRoom(): void;
  /** It takes no new requests any more; what is under way may still end well. */
  onRetired(connection: ApnsConnection): void;
  /** It is gone, and everything that was under way has ended. */
  onClosed(connection: ApnsConnection): void;
}

type AnswerHeaders = IncomingHttpHeaders & IncomingHttpStatusHeader;

interface Flight {
  readonly exchange: ApnsExchange;
  readonly stream: ClientHttp2Stream;
  readonly startedAt: number;
}

const maximumStreams = 1000;
const sweepsPerTimeout = 10;

/**
 * One HTTP/2 connection to APNs. Streams are counted here against what the peer announces, because Apple allows only one
 * until a request has succeeded and many after.
 * https://developer.apple.com/documentation/usernotifications/establishing-a-connection-to-apns
 */
export class ApnsConnection {
  readonly #options: ApnsConnectionOptions;
  readonly #session: ClientHttp2Session;
  readonly #flights = new Set<Flight>();
  readonly #sweep: NodeJS.Timeout;
  readonly #connectDeadline: NodeJS.Timeout;
  #announcedStreams = 0;
  #isProven = false;
  #isRetired = false;
  #isDoubtful = false;
  #lastStreamId = Number.POSITIVE_INFINITY;
  #lastHeardAt: number;
  #pingSentAt: number | undefined;

  constructor(options: ApnsConnectionOptions) {
    this.#options = options;
    const { timings, clock } = options;
    this.#lastHeardAt = clock();
    // A name is looked up anew for each connection, as Apple asks: connect does so.
    this.#session = connect(options.url, options.ca === undefined ? {} : { ca: options.ca });
    this.#connectDeadline = setTimeout(() => this.#session.destroy(), timings.connectTimeoutMilliseconds);
    const sweepMilliseconds = Math.min(timings.requestTimeoutMilliseconds, timings.pingTimeoutMilliseconds);
    this.#sweep = setInterval(() => this.#look(), Math.max(10, sweepMilliseconds / sweepsPerTimeout)).unref();
    this.#listen();
  }

  /** How many requests it can take now. */
  get room(): number {
    if (this.#isRetired || this.#isDoubtful) return 0;
    const allowed = this.#isProven ? Math.min(this.#announcedStreams, maximumStreams) : 1;
    return this.#announcedStreams === 0 ? 0 : allowed - this.#flights.size;
  }

  /** Whether a request has got an answer on it, which is when APNs allows more than one at once. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** Whether it ever got as far as HTTP/2. */
  get wasConnected(): boolean {
    return this.#announcedStreams > 0;
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Sends a request; only while there is {@link room}. */
  send(exchange: ApnsExchange): void {
    const { path, headers, body } = exchange.notification;
    headers[':method'] = 'POST';
    headers[':path'] = path;
    headers.authorization = exchange.authorization;
    const stream = this.#session.request(headers);
    const flight: Flight = { exchange, stream, startedAt: this.#options.clock() };
    this.#flights.add(flight);
    let answer: AnswerHeaders | undefined;
    let text = '';
    stream.on('response', (received) => {
      answer = received;
      this.#lastHeardAt = this.#options.clock();
      this.#isProven = true;
      if (received[':status'] === 200) {
        stream.resume();
        return;
      }
      stream.setEncoding('utf8');
      stream.on('data', (chunk: string) => {
        text += chunk;
      });
    });
    stream.on('error', expectBreak);
    stream.on('close', () => {
      if (!this.#flights.delete(flight)) return;
      exchange.end(this.#endingOf(stream, answer, text), this);
      this.#options.onRoom();
    });
    stream.end(body);
  }

  /** Takes no new requests; closes once those under way have ended. */
  retire(): void {
    if (this.#isRetired) return;
    this.#isRetired = true;
    this.#session.close();
    this.#options.onRetired(this);
  }

  /** Drops the connection at once. */
  destroy(): void {
    this.#session.destroy();
  }

  #listen(): void {
    const session = this.#session;
    session.on('remoteSettings', ({ maxConcurrentStreams = maximumStreams }) => {
      clearTimeout(this.#connectDeadline);
      this.#announcedStreams = maxConcurrentStreams;
      this.#lastHeardAt = this.#options.clock();
      this.#options.onRoom();
    });
    session.on('goaway', (_code, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      this.retire();
    });
    // `close` follows, with whatever the break meant for the requests under way.
    session.on('error', expectBreak);
    session.on('close', () => {
      clearTimeout(this.#connectDeadline);
      clearInterval(this.#sweep);
      this.#isRetired = true;
      for (const { exchange, stream } of this.#flights) {
        exchange.end(this.#endingOf(stream, undefined, ''), this);
      }
      this.#flights.clear();
      this.#options.onClosed(this);
    });
  }

  /** RFC 9113 sections 6.8 and 8.7: streams above the last of a GOAWAY, and refused ones, were not processed. */
  #endingOf(stream: ClientHttp2Stream, answer: AnswerHeaders | undefined, body: string): ApnsEnding {
    const httpStatus = answer?.[':status'];
    if (httpStatus !== undefined && (httpStatus === 200 || stream.rstCode === constants.NGHTTP2_NO_ERROR)) {
      const retryAfter = answer?.['retry-after'];
      return { kind: 'answered', httpStatus, body, retryAfter };
    }
    const { id, rstCode } = stream;
    const wasNeverSent = id === undefined || id === 0 || id > this.#lastStreamId;
    if (wasNeverSent) return { kind: 'not-processed', because: 'connection-ended' };
    if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return { kind: 'not-processed', because: 'refused' };
    return { kind: 'unanswered', why: 'BROKEN_OFF' };
  }

  /** Ends what waits too long for an answer, and asks a silent peer whether it still lives. */
  #look(): void {
    const { timings, clock } = this.#options;
    const now = clock();
    for (const flight of this.#flights) {
      if (now - flight.startedAt < timings.requestTimeoutMilliseconds) break;
      this.#flights.delete(flight);
      flight.exchange.end({ kind: 'unanswered', why: 'TIMED_OUT' }, this);
      flight.stream.close(constants.NGHTTP2_CANCEL);
      this.#isDoubtful = true;
    }
    if (this.#pingSentAt !== undefined) {
      if (now - this.#pingSentAt >= timings.pingTimeoutMilliseconds) this.#session.destroy();
    } else if (this.#isDoubtful || now - this.#lastHeardAt >= timings.pingAfterIdleMilliseconds) {
      this.#ping(now);
    }
  }

  #ping(now: number): void {
    if (this.#announcedStreams === 0 || this.#session.closed || this.#session.destroyed) return;
    this.#pingSentAt = now;
    this.#session.ping((error) => {
      if (error !== null) return;
      this.#pingSentAt = undefined;
      this.#isDoubtful = false;
      this.#lastHeardAt = this.#options.clock();
      this.#options.onRoom();
    });
  }
}

/** A break arrives as an error too; `close` comes after it and carries what is needed. */
function expectBreak(): void {}
