import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '@waxwing/service/lifecycle';
import { maximumAnswerCharacters } from '../vendor-sender.js';
import type { ApnsEnding, ApnsExchange } from './exchange.js';

export interface ApnsTimings {
  /** Time for one request, from its first byte to the whole answer. */
  readonly requestTimeoutMilliseconds: number;
  readonly connectTimeoutMilliseconds: number;
  /** A connection on which nothing happened for so long is asked whether it still lives. */
  readonly pingAfterIdleMilliseconds: number;
  /** How long that may take to be answered. */
  readonly pingTimeoutMilliseconds: number;
}

export interface ApnsConnectionOptions {
  readonly url: string;
  readonly ca: string | undefined;
  readonly timings: ApnsTimings;
  readonly clock: Clock;
  /** A request has ended. */
  onEnded(exchange: ApnsExchange, ending: ApnsEnding, connection: ApnsConnection): void;
  /** Streams may have become free. */
  onRoom(): void;
  /** It takes no new requests any more; what is under way may still end well. */
  onRetired(connection: ApnsConnection): void;
  /** It is gone, and everything that was under way has ended. */
  onClosed(connection: ApnsConnection): void;
}

const connectionOf = Symbol('connection');
const exchangeOf = Symbol('exchange');

/** A stream that knows what it is for, so that all streams share their listeners. */
interface ExchangeStream extends ClientHttp2Stream {
  [connectionOf]: ApnsConnection;
  [exchangeOf]: ApnsExchange;
}

const success: ApnsEnding = { kind: 'answered', httpStatus: 200, body: '', retryAfter: undefined };
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
  readonly #flights = new Set<ApnsExchange>();
  readonly #sweep: NodeJS.Timeout;
  readonly #connectDeadline: NodeJS.Timeout;
  #socket: Socket | undefined;
  #trouble: Error | undefined;
  #announcedStreams = 0;
  #isProven = false;
  #retiredAt: number | undefined;
  #isDoubtful = false;
  #lastStreamId = Number.POSITIVE_INFINITY;
  #lastHeardAt: number;
  #pingSentAt: number | undefined;

  constructor(options: ApnsConnectionOptions) {
    this.#options = options;
    const { timings, clock } = options;
    this.#lastHeardAt = clock();
    // A name is looked up again for each connection, as Apple asks: connect does so.
    this.#session = connect(options.url, options.ca === undefined ? {} : { ca: options.ca });
    this.#connectDeadline = setTimeout(() => this.#session.destroy(), timings.connectTimeoutMilliseconds);
    const sweepMilliseconds = Math.min(timings.requestTimeoutMilliseconds, timings.pingTimeoutMilliseconds);
    this.#sweep = setInterval(() => this.#look(), Math.max(10, sweepMilliseconds / sweepsPerTimeout)).unref();
    this.#listen();
  }

  /** How many requests it can take now. */
  get room(): number {
    // A session that has broken says so only later: its streams end first, and asking it for one more would throw.
    const { closed, destroyed } = this.#session;
    if (this.isRetired || this.#isDoubtful || closed || destroyed) return 0;
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
    return this.#retiredAt !== undefined;
  }

  /** What broke it; `undefined` when nothing was said. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** Sends a request; only while there is {@link room}. */
  send(exchange: ApnsExchange): void {
    const { notification, authorization } = exchange.request;
    const { path, headers, body } = notification;
    headers[':method'] = 'POST';
    headers[':path'] = path;
    headers.authorization = authorization;
    const stream = this.#session.request(headers) as ExchangeStream;
    exchange.open(stream, this.#options.clock());
    stream[connectionOf] = this;
    stream[exchangeOf] = exchange;
    this.#flights.add(exchange);
    stream.on('response', onResponse);
    stream.on('error', expectBreak);
    stream.on('close', onClose);
    // ASCII throughout, and copied faster when that is said.
    stream.end(body, 'latin1');
  }

  /** Used by its streams: the peer has begun to answer. */
  heard(): void {
    this.#lastHeardAt = this.#options.clock();
    this.#isProven = true;
  }

  /** Used by its streams: nothing more comes. */
  ended(exchange: ApnsExchange): void {
    // One that took too long has been given up already.
    if (!this.#flights.delete(exchange)) return;
    this.#options.onEnded(exchange, this.#endingOf(exchange), this);
    this.#options.onRoom();
  }

  /** Takes no new requests; closes once those under way have ended. */
  retire(): void {
    if (this.isRetired) return;
    this.#retiredAt = this.#options.clock();
    this.#session.close();
    this.#options.onRetired(this);
  }

  /** Drops the connection at once. */
  destroy(): void {
    this.#session.destroy();
    // A session that was closed has let go of its socket, which waits for the peer to close it too.
    this.#socket?.destroy();
  }

  #listen(): void {
    const session = this.#session;
    session.on('connect', (_session, socket) => {
      this.#socket = socket as Socket;
    });
    session.on('remoteSettings', ({ maxConcurrentStreams = maximumStreams }) => {
      // One that allows no stream at all is of no use, and is given up when the time to connect is over.
      if (maxConcurrentStreams > 0) clearTimeout(this.#connectDeadline);
      this.#announcedStreams = maxConcurrentStreams;
      this.#lastHeardAt = this.#options.clock();
      this.#options.onRoom();
    });
    session.on('goaway', (_code, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      this.retire();
    });
    // `close` follows, with whatever the break meant for the requests under way.
    session.on('error', (error: Error) => {
      this.#trouble = error;
    });
    session.on('close', () => {
      clearTimeout(this.#connectDeadline);
      clearInterval(this.#sweep);
      this.#retiredAt ??= this.#options.clock();
      for (const exchange of this.#flights) this.#options.onEnded(exchange, this.#endingOf(exchange), this);
      this.#flights.clear();
      this.#options.onClosed(this);
    });
  }

  /** RFC 9113 sections 6.8 and 8.7: streams above the last of a GOAWAY, and refused ones, were not processed. */
  #endingOf({ stream, httpStatus, body, retryAfter }: ApnsExchange): ApnsEnding {
    if (httpStatus === 200) return success;
    const { id, rstCode } = stream ?? {};
    if (httpStatus !== undefined && rstCode === constants.NGHTTP2_NO_ERROR) {
      return { kind: 'answered', httpStatus, body, retryAfter };
    }
    const wasNeverSent = id === undefined || id === 0 || id > this.#lastStreamId;
    if (wasNeverSent) return { kind: 'not-processed', because: 'connection-ended' };
    if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return { kind: 'not-processed', because: 'refused' };
    return { kind: 'unanswered', why: 'BROKEN_OFF' };
  }

  /** Ends what waits too long for an answer, and asks a silent peer whether it still lives. */
  #look(): void {
    const { timings, clock, onEnded } = this.#options;
    const now = clock();
    for (const exchange of this.#flights) {
      if (now - exchange.startedAt < timings.requestTimeoutMilliseconds) break;
      this.#flights.delete(exchange);
      exchange.stream?.close(constants.NGHTTP2_CANCEL);
      this.#isDoubtful = true;
      onEnded(exchange, { kind: 'unanswered', why: 'TIMED_OUT' }, this);
    }
    // By then everything that was under way has ended, and the peer should have closed the connection.
    const patience = timings.requestTimeoutMilliseconds + timings.pingTimeoutMilliseconds;
    if (this.#retiredAt !== undefined && now - this.#retiredAt >= patience) this.destroy();
    if (this.#pingSentAt !== undefined) {
      if (now - this.#pingSentAt >= timings.pingTimeoutMilliseconds) this.destroy();
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

function onResponse(this: ClientHttp2Stream, headers: IncomingHttpHeaders & IncomingHttpStatusHeader): void {
  const { [connectionOf]: connection, [exchangeOf]: exchange } = this as ExchangeStream;
  connection.heard();
  exchange.httpStatus = headers[':status'];
  if (exchange.httpStatus === 200) {
    this.resume();
    return;
  }
  exchange.retryAfter = headers['retry-after'];
  this.setEncoding('utf8');
  this.on('data', onData);
}

function onData(this: ClientHttp2Stream, chunk: string): void {
  const { [exchangeOf]: exchange } = this as ExchangeStream;
  if (exchange.body.length < maximumAnswerCharacters) exchange.body += chunk;
}

function onClose(this: ClientHttp2Stream): void {
  const { [connectionOf]: connection, [exchangeOf]: exchange } = this as ExchangeStream;
  connection.ended(exchange);
}

/** A break arrives as an error too; `close` comes after it and carries what is needed. */
function expectBreak(): void {}
