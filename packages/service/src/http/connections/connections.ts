import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { ProtocolError } from '@waxwing/protocol';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Log } from '../../logging/create-logger.js';
import { unavailable } from '../error-answer.js';
import { Exchange } from '../exchange.js';
import { FairShares } from '../overload/fair-shares.js';
import type { RefusalReason } from '../overload/in-flight-caps.js';
import { PipeliningCaps } from '../overload/pipelining-caps.js';
import type { RequestScheduler } from '../overload/request-scheduler.js';
import { ClientAddresses } from './client-addresses.js';
import { type Connection, expectsAnswer, isLate, newConnection } from './connection.js';
import { connectionsOfPartialHeads } from './partial-heads.js';
import {
  answerUnparsed,
  hasTooManyFields,
  maximumHeaderFields,
  unparsedRefusal,
} from './unparsed-requests.js';
import { isUnread, UnreadBodies } from './unread-bodies.js';

export interface ConnectionsOptions {
  readonly limits: HttpLimits;
  readonly scheduler: RequestScheduler;
  readonly log: Log;
  readonly onRefusal: (reason: RefusalReason) => void;
  readonly settingsPrefix: string;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/**
 * Maximum number of connections beyond a limit. Each stays open for a single response: to a health check, or 503. One
 * more connection closes the oldest of them.
 */
const maximumSurplusConnections = 100;
/** Fraction of the body byte limit that incomplete large heads may use. */
const partialHeadsPartOfBytes = 1 / 4;
// Stored as a property of the request, because a WeakMap of all requests would slow down garbage collection.
const exchangeKey = Symbol('exchange');
type KnownMessage = IncomingMessage & { [exchangeKey]?: Exchange };

interface Start {
  readonly exchange: Exchange;
  readonly handle: RequestListener;
  readonly isPipelined: boolean;
}

/** The connections of an HTTP server, limited in number and duration. Each connection serves one request at a time. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  /** Connections that are not serving a request, longest idle first. */
  readonly #idle = new Set<Connection>();
  readonly #surplus = new Set<Connection>();
  /** Number of connections per address or, behind a trusted proxy, number of requests per forwarded address. */
  readonly #perAddress = new FairShares();
  readonly addresses: ClientAddresses;
  readonly #pipelining: PipeliningCaps;
  readonly #unread = new UnreadBodies();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.addresses = new ClientAddresses(options);
    this.#pipelining = new PipeliningCaps(options.limits);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Body bytes of pipelined requests that are queued on their connections. */
  get pipelinedBodyBytes(): number {
    return this.#pipelining.bodyBytes;
  }

  /** Drains: closes idle connections now (with 503 if the client expects a response), others after their responses. */
  endSoon(): void {
    for (const connection of [...this.#idle]) {
      if (expectsAnswer(connection)) this.#refuse(connection.socket, unavailable('shutdown'));
      else this.#cut(connection);
    }
    for (const { serving } of this.#open.values()) if (serving) serving.response.shouldKeepAlive = false;
  }

  /** Creates the server. Passes requests to `handle` one at a time per connection and fairly across clients. */
  serve(handle: RequestListener): Server {
    const { limits } = this.#options;
    const server = createServer({
      headersTimeout: limits.headTimeoutMilliseconds,
      requestTimeout: limits.requestTimeoutMilliseconds,
      keepAliveTimeout: limits.idleTimeoutMilliseconds,
      connectionsCheckingInterval: limits.checkEveryMilliseconds,
      maxHeaderSize: limits.maximumHeadBytes,
      // Otherwise, Node would refuse a request without Host with an empty body. A hook in the app refuses it instead.
      requireHostHeader: false,
    });
    // Beyond this limit, Node silently drops fields, even Authorization. One more field makes an excess detectable.
    server.maxHeadersCount = maximumHeaderFields + 1;
    const receive: RequestListener = (request, response) => {
      if (!hasTooManyFields(request)) this.#receive(request, response, handle);
      else this.#refuse(request.socket, new ProtocolError('REQUEST_HEADERS_TOO_LARGE'));
    };
    server.on('request', receive);
    // Without this listener, Node would respond to an unknown `Expect` header itself and bypass all limits.
    server.on('checkExpectation', receive);
    server.on('connection', (socket) => this.#admit(socket));
    // Without this listener, Node would close the connection of a CONNECT request without a response.
    server.on('connect', (_request, socket) => {
      // Node has removed its own error listener, so a reset by the client would crash the process.
      socket.on('error', () => undefined);
      this.#refuse(socket as Socket, new ProtocolError('METHOD_NOT_ALLOWED'));
    });
    const checks = setInterval(
      () => this.#endSlowOnes(performance.now()),
      limits.checkEveryMilliseconds,
    ).unref();
    server.on('close', () => clearInterval(checks));
    return server;
  }

  /** Responds to an error reported by Node's HTTP parser. Node reports the error again for each further chunk. */
  refuseUnparsed(error: NodeJS.ErrnoException, socket: Socket): void {
    const isFirst = this.#open.get(socket)?.refusedAt === undefined;
    if (isFirst && error.code === 'ERR_HTTP_REQUEST_TIMEOUT') this.#options.onRefusal('timeout');
    this.#refuse(socket, unparsedRefusal(error));
  }

  /** Returns the exchange of a request. Creates one for an injected request, which has no connection. */
  exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
    return (request as KnownMessage)[exchangeKey] ?? new Exchange(request, response);
  }

  /**
   * Counts a request from a trusted proxy as if it were a connection of the forwarded address, until the request ends.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if that address has too many requests
   */
  countForwarded(exchange: Exchange): void {
    const address = this.addresses.forwardedBy(exchange.request);
    if (address === undefined) return;
    if (this.#isFull(address)) {
      this.#options.onRefusal('address');
      throw unavailable('address');
    }
    this.#perAddress.add(address);
    exchange.onEnd(() => this.#perAddress.remove(address));
  }

  #admit(socket: Socket): void {
    const { maximumConnections } = this.#options.limits;
    const address = this.addresses.limited(socket);
    const isAddressFull = address !== undefined && this.#isFull(address);
    if (!isAddressFull && this.#open.size - this.#surplus.size >= maximumConnections) this.#closeIdle();
    const isFull = this.#open.size - this.#surplus.size >= maximumConnections;
    const isSurplus = isFull || isAddressFull;
    const connection = newConnection(socket, { isSurplus, address: isSurplus ? undefined : address });
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
    if (connection.isSurplus) {
      this.#options.onRefusal(isFull ? 'connections' : 'address');
      this.#admitSurplus(connection);
      return;
    }
    this.#idle.add(connection);
    if (connection.address !== undefined) this.#perAddress.add(connection.address);
  }

  #admitSurplus(connection: Connection): void {
    const [oldest] = this.#surplus;
    if (oldest !== undefined && this.#surplus.size >= maximumSurplusConnections) this.#cut(oldest);
    this.#surplus.add(connection);
  }

  #closeIdle(): void {
    const [oldest] = this.#idle;
    if (oldest === undefined) return;
    this.#options.onRefusal('connections');
    this.#cut(oldest);
  }

  /** Refuses a request, or closes its connection if the response could be mistaken for that of an earlier request. */
  #refuse(socket: Socket, error: ProtocolError): void {
    const connection = this.#open.get(socket);
    if (connection === undefined || connection.refusedAt !== undefined) return;
    const { serving } = connection;
    if (!socket.writable || serving?.request.complete || serving?.response.headersSent) {
      this.#cut(connection);
      return;
    }
    connection.refusedAt = performance.now();
    answerUnparsed(socket, error);
    // If the app is still reading the request's body, closing the socket ends that read.
    if (serving !== undefined) socket.destroySoon();
    else socket.resume();
  }

  #receive(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const connection = this.#open.get(request.socket);
    // Ignores a request that arrived in the same packet as a request that caused the connection to be closed.
    if (connection === undefined || connection.refusedAt !== undefined) return;
    const exchange = new Exchange(request, response, connection.isSurplus);
    (request as KnownMessage)[exchangeKey] = exchange;
    if (connection.serving === undefined) {
      this.#start(connection, { exchange, handle, isPipelined: false });
      return;
    }
    if (!this.#pipelining.hasRoom(request, connection.pipelined.length)) {
      this.#options.onRefusal('pipelining');
      this.#cut(connection);
      return;
    }
    connection.pipelined.push(exchange);
    this.#pipelining.add(request);
  }

  #start(connection: Connection, { exchange, handle, isPipelined }: Start): void {
    this.#idle.delete(connection);
    connection.serving = exchange;
    exchange.onEnd(() => this.#finish(connection, exchange, handle));
    exchange.receivedAt = performance.now();
    const { request, response } = exchange;
    exchange.clientKey = this.#clientKeyOf(connection, request);
    this.#options.scheduler.begin(exchange, () => handle(request, response), isPipelined);
  }

  /**
   * Returns the client key of a request before authentication, when its own credentials are not verified yet. Uses the
   * connection's last actor, except behind a trusted proxy, whose connections serve many clients.
   */
  #clientKeyOf({ clientKey }: Connection, request: IncomingMessage): string {
    const isOfOne = clientKey !== undefined && !this.addresses.isForwarding(request.socket);
    return isOfOne ? clientKey : `address ${this.addresses.nearest(request)}`;
  }

  #finish(connection: Connection, { actor, request }: Exchange, handle: RequestListener): void {
    if (actor !== undefined && actor !== connection.actor) {
      connection.actor = actor;
      connection.clientKey = `actor ${actor}`;
    }
    connection.serving = undefined;
    connection.answeredAt = undefined;
    connection.bytesBefore = connection.socket.bytesRead;
    if (!this.#open.has(connection.socket)) return;
    if (!request.complete) connection.unread = this.#unread.begin(request);
    const next = connection.pipelined.shift();
    if (next !== undefined) this.#pipelining.remove(next.request);
    // A connection that closes after this response serves no more requests.
    if (next !== undefined && connection.socket.writable)
      this.#start(connection, { exchange: next, handle, isPipelined: true });
    else if (!connection.isSurplus) this.#idle.add(connection);
  }

  #cut(connection: Connection): void {
    connection.socket.destroy();
    this.#forget(connection);
  }

  #forget(connection: Connection): void {
    if (!this.#open.delete(connection.socket)) return;
    this.#idle.delete(connection);
    this.#surplus.delete(connection);
    if (connection.address !== undefined) this.#perAddress.remove(connection.address);
    for (const exchange of connection.pipelined.splice(0)) {
      this.#pipelining.remove(exchange.request);
      exchange.end();
    }
    connection.serving?.end();
  }

  /** Closes late connections that Node's timeouts do not cover: surplus, or with an unread body or response. */
  #endSlowOnes(now: number): void {
    for (const connection of this.#open.values()) {
      if (connection.serving?.response.writableEnded) connection.answeredAt ??= now;
      if (connection.unread !== undefined) {
        // The unread rest of a body whose request was already answered must not count as a partial head.
        connection.bytesBefore = connection.socket.bytesRead;
        if (!isUnread(connection.unread)) connection.unread = undefined;
      }
      if (!isLate(connection, this.#options.limits, now)) continue;
      this.#options.onRefusal('timeout');
      this.#cut(connection);
    }
    const maximumBytes = this.#options.limits.maximumBodyBytesInFlight * partialHeadsPartOfBytes;
    for (const connection of connectionsOfPartialHeads(this.#open.values(), maximumBytes)) {
      this.#options.onRefusal('body-bytes');
      this.#cut(connection);
    }
  }

  #isFull(address: string): boolean {
    return this.#perAddress.of(address) >= this.#options.limits.maximumConnectionsPerAddress;
  }
}
