import { EventEmitter, once } from 'node:events';
import { backOffMilliseconds, type Clock, FifoQueue } from '@waxwing/service/lifecycle';
import type { ReachLog } from '../reach-log.js';
import type { UnansweredReason } from '../vendor-sender.js';
import { ApnsConnection, type ApnsTimings } from './connection.js';
import { type ApnsEnding, ApnsExchange, type ApnsRequest, type ApnsResult } from './exchange.js';
import type { ApnsHost } from './open-session.js';

export interface ApnsPoolOptions extends ApnsHost {
  readonly clock: Clock;
  readonly timings: ApnsTimings;
  readonly maximumConnections: number;
  /** Maximum number of queued requests. Further requests fail with OVERLOADED. */
  readonly maximumWaiting: number;
  readonly reach: ReachLog;
}

/**
 * Maximum number of resends per request, by cause. Low for refusals, which could repeat forever. High for lost
 * connections, because each loss ends every stream on the connection.
 */
const maximumResends = { 'connection-ended': 30, refused: 3 } as const;
const maximumConnectFailures = 2;
const reconnectDelays = { firstMilliseconds: 500, capMilliseconds: 30_000 };
/** Reasons after which a connection is useless. The policy retries the request, which then uses another connection. */
const leaveConnection = /"(?:Shutdown|IdleTimeout|UnrelatedKeyIdInToken)"/;

/**
 * Connection pool for one credential in one of Apple's environments. Keeps idle connections open. Requests wait in the
 * pool's own queue, not in Node's, until a stream is free.
 */
export class ApnsPool {
  readonly #options: ApnsPoolOptions;
  readonly #connections = new Set<ApnsConnection>();
  readonly #again: ApnsExchange[] = [];
  readonly #waiting = new FifoQueue<ApnsExchange>();
  #underWay = 0;
  #connectFailures = 0;
  #connectNotBefore = 0;
  #isClosed = false;
  /** Emits `over` when the pool is drained or the deadline has passed. */
  readonly #closing = new EventEmitter();

  constructor(options: ApnsPoolOptions) {
    this.#options = options;
  }

  /** Number of queued requests. */
  get waiting(): number {
    return this.#again.length + this.#waiting.count;
  }

  get connections(): number {
    return this.#connections.size;
  }

  /** Sends one notification. Resends it if APNs provably did not process it. Never rejects. */
  send(request: ApnsRequest): Promise<ApnsResult> {
    return new Promise((resolve) => {
      if (this.#isClosed || this.waiting >= this.#options.maximumWaiting) {
        resolve({ kind: 'unanswered', why: 'OVERLOADED' });
        return;
      }
      this.#waiting.add(new ApnsExchange(request, resolve));
      this.#dispatch();
    });
  }

  /** Graceful shutdown: drains for at most `deadlineMilliseconds`, then destroys all connections. */
  async close(deadlineMilliseconds: number): Promise<void> {
    this.#isClosed = true;
    if (this.#underWay + this.waiting > 0) {
      const deadline = setTimeout(() => this.#closing.emit('over'), deadlineMilliseconds);
      await once(this.#closing, 'over');
      clearTimeout(deadline);
    }
    for (const connection of this.#connections) connection.destroy();
    this.#failWaiting('OVERLOADED');
  }

  #dispatch(): void {
    while (this.waiting > 0) {
      const connection = this.#withRoom();
      if (connection === undefined) break;
      const next = this.#take();
      if (next === undefined) break;
      if (this.#options.clock() > next.request.notAfter) {
        next.resolve({ kind: 'unanswered', why: 'OVERLOADED' });
        continue;
      }
      this.#underWay += 1;
      connection.send(next);
    }
    if (this.waiting > 0) this.#openWhereUseful();
  }

  #withRoom(): ApnsConnection | undefined {
    for (const connection of this.#connections) if (connection.room > 0) return connection;
    return undefined;
  }

  #take(): ApnsExchange | undefined {
    return this.#again.pop() ?? this.#waiting.take();
  }

  /**
   * Opens one more connection, unless a connection has not yet received its first response. Apple may treat many
   * simultaneous connections as an attack.
   */
  #openWhereUseful(): void {
    let usable = 0;
    for (const connection of this.#connections) {
      if (connection.isRetired) continue;
      if (!connection.isProven) return;
      usable += 1;
    }
    if (usable >= this.#options.maximumConnections) return;
    if (this.#options.clock() < this.#connectNotBefore) {
      if (usable === 0) this.#failWaiting('NOT_CONNECTED');
      return;
    }
    const { url, ca, proxy, timings, clock } = this.#options;
    const connection = new ApnsConnection({
      url,
      ca,
      proxy,
      timings,
      clock,
      onEnded: (exchange, ending, ended) => this.#end(exchange, ending, ended),
      onRoom: () => this.#dispatch(),
      onRetired: () => this.#dispatch(),
      onClosed: (closed) => this.#onClosed(closed),
    });
    this.#connections.add(connection);
  }

  #onClosed(connection: ApnsConnection): void {
    this.#connections.delete(connection);
    if (this.#isClosed) return;
    // A connection that ended before its first response counts as failed: Apple may treat an immediate reconnect as an
    // attack.
    if (connection.isProven) this.#connectFailures = 0;
    else this.#rest(connection);
    this.#dispatch();
  }

  #onAnswer(): void {
    this.#options.reach.worked();
    this.#connectFailures = 0;
    this.#connectNotBefore = 0;
  }

  /** Delays the next connection with exponential backoff after two consecutive failures. */
  #rest(failed: ApnsConnection): void {
    this.#connectFailures += 1;
    const attempt = this.#connectFailures - maximumConnectFailures + 1;
    if (attempt < 1) return;
    this.#connectNotBefore = this.#options.clock() + backOffMilliseconds({ attempt, ...reconnectDelays });
    if (!failed.wasConnected) this.#options.reach.failed(failed.trouble);
  }

  #end(exchange: ApnsExchange, ending: ApnsEnding, connection: ApnsConnection): void {
    this.#underWay -= 1;
    if (ending.kind === 'not-processed') {
      const { because } = ending;
      if (exchange.resends[because] < maximumResends[because] && !this.#isClosed) {
        exchange.resends[because] += 1;
        this.#again.push(exchange);
        return;
      }
      exchange.resolve({ kind: 'unanswered', why: 'NOT_PROCESSED' });
    } else {
      if (ending.kind === 'answered') this.#onAnswer();
      if (ending.kind === 'answered' && ending.httpStatus !== 200 && leaveConnection.test(ending.body)) {
        connection.retire();
      }
      exchange.resolve(ending);
    }
    if (this.#isClosed && this.#underWay + this.waiting === 0) this.#closing.emit('over');
  }

  #failWaiting(why: UnansweredReason): void {
    for (let next = this.waiting > 0 ? this.#take() : undefined; next !== undefined; ) {
      next.resolve({ kind: 'unanswered', why });
      next = this.waiting > 0 ? this.#take() : undefined;
    }
  }
}
