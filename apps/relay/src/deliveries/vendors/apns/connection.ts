import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  constants,
  type IncomingHttpHeaders,
  type IncomingHttpStatusHeader,
} from 'node:http2';
import type { Socket } from 'node:net';
import type { Clock } from '@waxwing/service/lifecycle';
import { maximumAnswerCharacters } from '../vendor-sender.js';
import type { ApnsEnding, ApnsExchange } from './exchange.js';
import { type ApnsHost, openSession } from './open-session.js';

export interface ApnsTimings {
  /** Timeout of one request, from its first byte to the complete response. */
  readonly requestTimeoutMilliseconds: number;
  readonly connectTimeoutMilliseconds: number;
  /** Idle time after which the connection is checked with a ping. */
  readonly pingAfterIdleMilliseconds: number;
  /** Timeout of a ping, after which the connection is destroyed. */
  readonly pingTimeoutMilliseconds: number;
}

export interface ApnsConnectionOptions extends ApnsHost {
  readonly timings: ApnsTimings;
  readonly clock: Clock;
  /** Called when a request has ended. */
  onEnded(exchange: ApnsExchange, ending: ApnsEnding, connection: ApnsConnection): void;
  /** Called when streams may have become free. */
  onRoom(): void;
  /** Called when the connection accepts no new requests. Requests in flight may still succeed. */
  onRetired(connection: ApnsConnection): void;
  /** Called when the connection is closed and all its requests have ended. */
  onClosed(connection: ApnsConnection): void;
}

const connectionOf = Symbol('connection');
const exchangeOf = Symbol('exchange');

/** A stream with a reference to its exchange, so that all streams can share the same listeners. */
interface ExchangeStream extends ClientHttp2Stream {
  [connectionOf]: ApnsConnection;
  [exchangeOf]: ApnsExchange;
}

const success: ApnsEnding = { kind: 'answered', httpStatus: 200, body: '', retryAfter: undefined };
const maximumStreams = 1000;
const sweepsPerTimeout = 10;

/**
 * One HTTP/2 connection to APNs. Counts streams against the peer's announced limit: APNs allows one stream until a
 * request has succeeded, and many afterwards.
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
  /** Whether the peer has answered a request since the connection was last idle. */
  #isAnswering = false;
  #isAbandoned = false;
  #lastHeardAt: number;
  #pingSentAt: number | undefined;

  constructor(options: ApnsConnectionOptions) {
    this.#options = options;
    const { timings, clock } = options;
    this.#lastHeardAt = clock();
    this.#session = openSession(options);
    this.#connectDeadline = setTimeout(() => this.#session.destroy(), timings.connectTimeoutMilliseconds);
    const sweepMilliseconds = Math.min(timings.requestTimeoutMilliseconds, timings.pingTimeoutMilliseconds);
    this.#sweep = setInterval(() => this.#look(), Math.max(10, sweepMilliseconds / sweepsPerTimeout)).unref();
    this.#listen();
  }

  /** Number of additional requests that the connection can accept now. */
  get room(): number {
    // Checked here, because a broken session emits `close` only after its streams end. Until then, a new request on the
    // session would throw.
    const { closed, destroyed } = this.#session;
    if (this.isRetired || this.#isDoubtful || closed || destroyed) return 0;
    const allowed = this.#isProven ? Math.min(this.#announcedStreams, maximumStreams) : 1;
    return this.#announcedStreams === 0 ? 0 : allowed - this.#flights.size;
  }

  /** Whether APNs has answered a request on this connection. Only then does APNs allow concurrent streams. */
  get isProven(): boolean {
    return this.#isProven;
  }

  /** Whether the HTTP/2 handshake ever completed. */
  get wasConnected(): boolean {
    return this.#announcedStreams > 0;
  }

  get isRetired(): boolean {
    return this.#retiredAt !== undefined;
  }

  /** The error that broke the connection; `undefined` if the connection did not break. */
  get trouble(): Error | undefined {
    return this.#trouble;
  }

  /** Sends a request. Call it only while there is {@link room}. */
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
    if (this.#flights.size === 0) this.#isAnswering = false;
    this.#flights.add(exchange);
    stream.on('response', onResponse);
    stream.on('error', expectBreak);
    stream.on('close', onClose);
    // The body is ASCII, and Node copies `latin1` faster.
    stream.end(body, 'latin1');
  }

  /** Called by a stream when the peer starts to respond. */
  heard(): void {
    this.#lastHeardAt = this.#options.clock();
    this.#isProven = true;
    this.#isAnswering = true;
  }

  /** Called by a stream when it is closed. */
  ended(exchange: ApnsExchange): void {
    // A request that timed out is no longer in the set.
    if (!this.#flights.delete(exchange)) return;
    this.#options.onEnded(exchange, this.#endingOf(exchange), this);
    this.#options.onRoom();
  }

  /** Graceful shutdown: accepts no new requests, and closes when the requests in flight have ended. */
  retire(): void {
    if (this.isRetired) return;
    this.#retiredAt = this.#options.clock();
    this.#session.close();
    this.#options.onRetired(this);
  }

  /** Closes the connection immediately. */
  destroy(): void {
    this.#isAbandoned = true;
    this.#session.destroy();
    // The session has detached from its socket, so the socket would stay open until the peer closes it.
    this.#socket?.destroy();
  }

  #listen(): void {
    const session = this.#session;
    session.on('connect', (_session, socket) => {
      this.#socket = socket as Socket;
    });
    session.on('remoteSettings', ({ maxConcurrentStreams = maximumStreams }) => {
      // If the peer allows no streams, the connection is useless: the connect deadline keeps running and closes it.
      if (maxConcurrentStreams > 0) clearTimeout(this.#connectDeadline);
      this.#announcedStreams = maxConcurrentStreams;
      this.#lastHeardAt = this.#options.clock();
      this.#options.onRoom();
    });
    session.on('goaway', (code, lastStreamId) => {
      this.#lastStreamId = lastStreamId;
      this.retire();
      if (code !== constants.NGHTTP2_NO_ERROR) surviveGoaway(session);
    });
    // A `close` event follows and ends the requests in flight.
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

  /**
   * Classifies how a request ended. The peer did not process refused streams, or streams above the last id of a GOAWAY
   * (RFC 9113 sections 6.8 and 8.7). If a connection worked, was idle, and ends before the next response, assumes that
   * the peer or a firewall closed the idle connection.
   */
  #endingOf({ stream, httpStatus, body, retryAfter }: ApnsExchange): ApnsEnding {
    if (httpStatus === 200) return success;
    const { id, rstCode } = stream ?? {};
    if (httpStatus !== undefined && rstCode === constants.NGHTTP2_NO_ERROR) {
      return { kind: 'answered', httpStatus, body, retryAfter };
    }
    const wasNeverSent = id === undefined || id === 0 || id > this.#lastStreamId;
    if (wasNeverSent || this.#wasClosedWhileIdle) {
      return { kind: 'not-processed', because: 'connection-ended' };
    }
    if (rstCode === constants.NGHTTP2_REFUSED_STREAM) return { kind: 'not-processed', because: 'refused' };
    return { kind: 'unanswered', why: 'BROKEN_OFF' };
  }

  get #wasClosedWhileIdle(): boolean {
    const hasEnded =
      this.#session.destroyed && !this.#isAbandoned && this.#lastStreamId === Number.POSITIVE_INFINITY;
    return hasEnded && this.#isProven && !this.#isAnswering;
  }

  /** Periodic sweep: times out requests and pings a silent peer. */
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
    // After this time, all requests of a retired connection have ended and the peer should have closed the connection.
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

/**
 * Keeps a session alive after a GOAWAY with an error code. Node destroys the session right after the `goaway` event,
 * although the peer may still answer streams up to the last id (RFC 9113 section 6.8). Without this workaround, the
 * relay would resend the notifications of these streams as duplicates.
 */
function surviveGoaway(session: ClientHttp2Session): void {
  session.destroy = () => undefined;
  process.nextTick(() => Reflect.deleteProperty(session, 'destroy'));
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

/**
 * Ignores a stream's `error` event: a `close` event follows, and the stream then has the details. Without a listener,
 * the error would crash the process.
 */
function expectBreak(): void {}
