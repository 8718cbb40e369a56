import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import type { Log } from '../../logging/create-logger.js';
import { unavailable } from '../error-answer.js';
import { Exchange } from '../exchange.js';
import { isHealthPath } from '../health/health-routes.js';
import { EqualParts } from '../overload/equal-parts.js';
import { LateRequests } from '../overload/late-requests.js';
import type { RefusalReason } from '../overload/places.js';
import { Turns } from '../overload/turns.js';
import { WaitingRequests } from '../overload/waiting-requests.js';
import { ClientAddresses } from './client-addresses.js';
import { isUnread, UnreadBodies, type UnreadBody } from './unread-bodies.js';

export interface ConnectionsOptions {
  readonly limits: HttpLimits;
  readonly log: Log;
  readonly onRefusal: (reason: RefusalReason) => void;
  readonly settingsPrefix: string;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
}

/** Beyond a limit a connection gets one answer, health or 503; so many may wait for it at once, the newest of them. */
const maximumSurplusConnections = 100;
const surplusMilliseconds = 5000;
/** A head of thousands of tiny fields takes ten times its bytes. */
const maximumHeaderFields = 100;

// A weak map of all requests keeps the garbage collector busy.
const exchangeKey = Symbol('exchange');
type KnownMessage = IncomingMessage & { [exchangeKey]?: Exchange };

interface Connection {
  readonly socket: Socket;
  readonly openedAt: number;
  readonly isSurplus: boolean;
  readonly address: string | undefined;
  serving: Exchange | undefined;
  readonly waiting: Exchange[];
  /** As whom a request was authenticated here last. */
  actor: string | undefined;
  /** For whom its requests take their turns while that is known; one text for all of them. */
  sender: string | undefined;
  /** The request that was answered last, until the rest of it has come. */
  unread: UnreadBody | undefined;
  /** Since when the answer is ready and not yet taken. */
  answeredAt: number | undefined;
}

interface Start {
  readonly exchange: Exchange;
  readonly handle: RequestListener;
  readonly isFollowing: boolean;
}

/** The connections of one HTTP server: bounded in number and time, each serving one request after the other. */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  /** Those without a request, the one that has been so for longest first. */
  readonly #idle = new Set<Connection>();
  readonly #surplus = new Set<Connection>();
  /** Of each address its connections, or requests that are forwarded. */
  readonly #ofAddresses = new EqualParts();
  readonly addresses: ClientAddresses;
  readonly #turns: Turns;
  readonly #late: LateRequests;
  readonly #waiting: WaitingRequests;
  readonly #unread = new UnreadBodies();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.addresses = new ClientAddresses(options);
    this.#turns = new Turns(options.limits);
    this.#late = new LateRequests(options);
    this.#waiting = new WaitingRequests(options.limits);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Bytes of bodies whose requests wait behind others on their connections. */
  get waitingBodyBytes(): number {
    return this.#waiting.bodyBytes;
  }

  /** Ends those without a request, and has each other end with its answer if that has not begun, so as to close soon. */
  endSoon(): void {
    for (const connection of this.#idle) this.#cut(connection);
    for (const { serving } of this.#open.values()) if (serving) serving.response.shouldKeepAlive = false;
  }

  /** A server whose requests reach `handle` one at a time for each connection, and of all connections in turn. */
  serve(handle: RequestListener): Server {
    const { limits, onRefusal } = this.#options;
    const server = createServer({
      headersTimeout: limits.headTimeoutMilliseconds,
      requestTimeout: limits.requestTimeoutMilliseconds,
      keepAliveTimeout: limits.idleTimeoutMilliseconds,
      connectionsCheckingInterval: limits.checkEveryMilliseconds,
    });
    // Node leaves out what is beyond, so that a body's length or who asks may be missing: one more shows that.
    server.maxHeadersCount = maximumHeaderFields + 1;
    const receive: RequestListener = (request, response) => {
      if (request.rawHeaders.length <= 2 * maximumHeaderFields) this.#receive(request, response, handle);
      else this.#refuseHead(server, request.socket);
    };
    server.on('request', receive);
    // Node would answer it by itself, past all turns and limits.
    server.on('checkExpectation', receive);
    server.on('connection', (socket) => this.#admit(socket));
    server.on('clientError', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') onRefusal('timeout');
    });
    const checks = setInterval(
      () => this.#endSlowOnes(performance.now()),
      limits.checkEveryMilliseconds,
    ).unref();
    server.on('close', () => clearInterval(checks));
    return server;
  }

  /** The exchange of a request; a new one where it came over no connection. */
  exchangeOf(request: IncomingMessage, response: ServerResponse): Exchange {
    return (request as KnownMessage)[exchangeKey] ?? new Exchange(request, response);
  }

  /**
   * Counts a request that a trusted proxy passes on like a connection of whom it comes from, until it is over.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After for one too many.
   */
  countForwarded(exchange: Exchange): void {
    const address = this.addresses.forwardedBy(exchange.request);
    if (address === undefined) return;
    if (this.#isFull(address)) {
      this.#options.onRefusal('address');
      throw unavailable();
    }
    this.#ofAddresses.add(address);
    exchange.whenOver(() => this.#ofAddresses.remove(address));
  }

  #admit(socket: Socket): void {
    const { maximumConnections } = this.#options.limits;
    const address = this.addresses.limited(socket);
    const isAddressFull = address !== undefined && this.#isFull(address);
    if (!isAddressFull && this.#open.size - this.#surplus.size >= maximumConnections) this.#closeIdle();
    const isFull = this.#open.size - this.#surplus.size >= maximumConnections;
    const connection: Connection = {
      socket,
      openedAt: performance.now(),
      isSurplus: isFull || isAddressFull,
      address: isFull || isAddressFull ? undefined : address,
      serving: undefined,
      waiting: [],
      actor: undefined,
      sender: undefined,
      unread: undefined,
      answeredAt: undefined,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => this.#forget(connection));
    if (connection.isSurplus) {
      this.#options.onRefusal(isFull ? 'connections' : 'address');
      this.#admitSurplus(connection);
      return;
    }
    this.#idle.add(connection);
    if (connection.address !== undefined) this.#ofAddresses.add(connection.address);
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

  /** As Node refuses a head of too many bytes, so that both are answered alike; not within another answer. */
  #refuseHead(server: Server, socket: Socket): void {
    const connection = this.#open.get(socket);
    const error = Object.assign(new Error('Too many header fields'), { code: 'HPE_HEADER_OVERFLOW' });
    if (connection?.serving === undefined) server.emit('clientError', error, socket);
    else this.#cut(connection);
  }

  #receive(request: IncomingMessage, response: ServerResponse, handle: RequestListener): void {
    const connection = this.#open.get(request.socket);
    // What was parsed in one go with the request that ended the connection.
    if (connection === undefined) return;
    const exchange = new Exchange(request, response, connection.isSurplus);
    (request as KnownMessage)[exchangeKey] = exchange;
    if (connection.serving === undefined) {
      this.#start(connection, { exchange, handle, isFollowing: false });
      return;
    }
    if (!this.#waiting.hasRoom(request, connection.waiting.length)) {
      this.#options.onRefusal('pipelining');
      this.#cut(connection);
      return;
    }
    connection.waiting.push(exchange);
    this.#waiting.begin(request);
  }

  #start(connection: Connection, { exchange, handle, isFollowing }: Start): void {
    this.#idle.delete(connection);
    connection.serving = exchange;
    exchange.whenOver(() => this.#finish(connection, exchange, handle));
    exchange.receivedAt = performance.now();
    const { request, response } = exchange;
    const act = (): void => {
      if (!exchange.isOver) handle(request, response);
    };
    exchange.sender = this.#senderOf(connection, request);
    const isHealth = isHealthPath(request.url ?? '');
    const sender = isHealth ? `health ${exchange.sender}` : exchange.sender;
    const refuse = isHealth || exchange.isSurplus ? undefined : () => this.#late.refuse(exchange);
    this.#turns.begin(act, { isFollowing, sender, refuse });
  }

  /**
   * For whom a request takes its turn. What it says of itself counts for nothing, since it is not checked yet, and behind a
   * trusted proxy neither does who asked before on the same connection, which carries the requests of many.
   */
  #senderOf({ sender }: Connection, request: IncomingMessage): string {
    const isOfOne = sender !== undefined && !this.addresses.isForwarding(request.socket);
    return isOfOne ? sender : `address ${this.addresses.nearest(request)}`;
  }

  #finish(connection: Connection, { actor, request }: Exchange, handle: RequestListener): void {
    if (actor !== undefined && actor !== connection.actor) {
      connection.actor = actor;
      connection.sender = `actor ${actor}`;
    }
    connection.serving = undefined;
    connection.answeredAt = undefined;
    if (!this.#open.has(connection.socket)) return;
    if (!request.complete) connection.unread = this.#unread.begin(request);
    const next = connection.waiting.shift();
    if (next !== undefined) this.#waiting.end(next.request);
    // A connection that ends with this answer serves nothing more.
    if (next !== undefined && connection.socket.writable)
      this.#start(connection, { exchange: next, handle, isFollowing: true });
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
    if (connection.address !== undefined) this.#ofAddresses.remove(connection.address);
    for (const exchange of connection.waiting.splice(0)) {
      this.#waiting.end(exchange.request);
      exchange.end();
    }
    connection.serving?.end();
  }

  /** What Node's own time-outs do not end: an unread body, an answer that is not taken, a connection too many. */
  #endSlowOnes(now: number): void {
    const { answerTimeoutMilliseconds, unreadBodyTimeoutMilliseconds } = this.#options.limits;
    for (const connection of this.#open.values()) {
      const { serving, unread } = connection;
      if (serving?.response.writableEnded) connection.answeredAt ??= now;
      const isLate =
        now - (connection.answeredAt ?? now) >= answerTimeoutMilliseconds ||
        (isUnread(unread) && now - unread.since >= unreadBodyTimeoutMilliseconds) ||
        (connection.isSurplus && now - connection.openedAt >= surplusMilliseconds);
      if (!isLate) continue;
      this.#options.onRefusal('timeout');
      this.#cut(connection);
    }
  }

  #isFull(address: string): boolean {
    return this.#ofAddresses.of(address) >= this.#options.limits.maximumConnectionsPerAddress;
  }
}
