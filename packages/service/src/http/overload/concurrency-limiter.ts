import { performance } from 'node:perf_hooks';
import type { ProtocolError } from '@waxwing/protocol';
import type { HttpLimits } from '../../http-settings/http-limits.js';
import { unavailable } from '../error-answer.js';
import type { Exchange } from '../exchange.js';
import { FairShares } from './fair-shares.js';

export interface ConcurrencyLimiterOptions {
  readonly limits: Pick<HttpLimits, 'backlogMilliseconds' | 'minimumBacklog'>;
  /**
   * Whether requests wait for an external system, such as a vendor. If so, high latency counts as overload only while
   * the process is busy.
   */
  readonly waitsForOthers: boolean;
  /** Whether the event loop is saturated. */
  readonly isProcessBusy: () => boolean;
  /** Called for each refused request. */
  readonly onOverload: () => void;
}

const windowMilliseconds = 500;
/**
 * Decay factor of the measured throughput per window. A stall, such as a garbage collection, must not lower the value
 * abruptly.
 */
const throughputDecay = 0.8;

/**
 * Adaptive concurrency limit for one operation (Little's law; overload detected as in CoDel, RFC 8289). There is no
 * limit while requests complete within `backlogMilliseconds`. The operation is overloaded if the oldest request is
 * older than that and no request has completed in time for just as long. The limiter then admits only as many requests
 * as recent throughput can complete within that time, split evenly between clients.
 */
export class ConcurrencyLimiter {
  readonly #options: ConcurrencyLimiterOptions;
  /** Requests that this process is working on, in the order in which they arrived or were resumed. */
  readonly #working = new Set<Permit>();
  /** Number of unauthenticated requests, by address or connection. */
  readonly #unauthenticated = new FairShares();
  /** Number of admitted requests, by client. */
  readonly #admitted = new FairShares();
  #lastInTimeAt = performance.now();
  #windowStartedAt = performance.now();
  #completedInWindow = 0;
  /** Highest recent throughput, in requests per millisecond. */
  #perMillisecond = 0;

  constructor(options: ConcurrencyLimiterOptions) {
    this.#options = options;
  }

  /**
   * Counts a request before authentication, until its permit is released. Unauthenticated requests have a separate
   * limit, so that they do not reduce the fair shares of known clients.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if the operation is overloaded and the request's origin
   * already has its fair share.
   */
  acquire(exchange: Exchange): Permit {
    const now = performance.now();
    if (this.#isLate(now) && !this.#unauthenticated.hasRoom(exchange.clientKey, this.#limit(now))) {
      throw this.#refusal();
    }
    this.#unauthenticated.add(exchange.clientKey);
    const permit = new Permit(exchange, this);
    this.#working.add(permit);
    exchange.onEnd(() => permit.disconnect());
    return permit;
  }

  /**
   * Counts a request for its client, once the client is known.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if the operation is overloaded and the client already
   * has its fair share.
   */
  admit(permit: Permit, client: string): void {
    const now = performance.now();
    if (this.#isLate(now) && !this.#admitted.hasRoom(client, this.#limit(now))) {
      permit.release();
      throw this.#refusal();
    }
    this.#unauthenticated.remove(permit.origin);
    this.#admitted.add(client);
    permit.client = client;
  }

  pause(permit: Permit): void {
    this.#working.delete(permit);
  }

  resume(permit: Permit): void {
    this.#working.add(permit);
  }

  complete({ startedAt }: Permit): void {
    const now = performance.now();
    this.#updateThroughput(now);
    this.#completedInWindow += 1;
    if (now - startedAt <= this.#options.limits.backlogMilliseconds) this.#lastInTimeAt = now;
  }

  release(permit: Permit): void {
    this.#working.delete(permit);
    if (permit.client === undefined) this.#unauthenticated.remove(permit.origin);
    else this.#admitted.remove(permit.client);
  }

  #isLate(now: number): boolean {
    const { isProcessBusy, limits, waitsForOthers } = this.#options;
    if (this.#unauthenticated.count + this.#admitted.count < limits.minimumBacklog) return false;
    // An approximation: a resumed request is last in the set even though it may be older, because it keeps its start
    // time.
    const [oldest] = this.#working;
    const since = now - limits.backlogMilliseconds;
    if (oldest === undefined || oldest.startedAt > since || this.#lastInTimeAt > since) return false;
    return !waitsForOthers || isProcessBusy();
  }

  /** Returns the number of requests that can be completed in time at recent throughput. */
  #limit(now: number): number {
    this.#updateThroughput(now);
    const { backlogMilliseconds, minimumBacklog } = this.#options.limits;
    return Math.max(minimumBacklog, this.#perMillisecond * backlogMilliseconds);
  }

  #updateThroughput(now: number): void {
    const elapsed = now - this.#windowStartedAt;
    if (elapsed < windowMilliseconds) return;
    const decayed = this.#perMillisecond * throughputDecay ** (elapsed / windowMilliseconds);
    this.#perMillisecond = Math.max(this.#completedInWindow / elapsed, decayed);
    this.#windowStartedAt = now;
    this.#completedInWindow = 0;
  }

  #refusal(): ProtocolError {
    this.#options.onOverload();
    return unavailable('overload');
  }
}

/** One request's permit from a {@link ConcurrencyLimiter}. */
export class Permit {
  /** The client key of the request's connection, before authentication. */
  readonly origin: string;
  /** The client; `undefined` until the request is admitted. */
  client: string | undefined;
  #startedAt: number;
  #pausedAt: number | undefined;
  #hasBegun = false;
  #isOver = false;
  readonly #limiter: ConcurrencyLimiter;

  constructor(exchange: Exchange, limiter: ConcurrencyLimiter) {
    this.origin = exchange.clientKey;
    this.#startedAt = exchange.receivedAt;
    this.#limiter = limiter;
  }

  /** When the request was received, plus the duration of its pauses. */
  get startedAt(): number {
    return this.#startedAt;
  }

  /**
   * Counts the request for its client. @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if the client already
   * has its fair share.
   */
  admit(client: string): void {
    if (!this.#isOver) this.#limiter.admit(this, client);
  }

  /** Stops the clock while the client is still sending its body. */
  pause(): void {
    this.#pausedAt = performance.now();
    this.#limiter.pause(this);
  }

  /** Marks the handler as started and restarts the clock. */
  resume(): void {
    this.#hasBegun = true;
    if (this.#pausedAt === undefined || this.#isOver) return;
    this.#startedAt += performance.now() - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#limiter.resume(this);
  }

  /**
   * Releases the permit when the client disconnects, unless the handler has already started, because handlers always
   * run to completion.
   */
  disconnect(): void {
    if (!this.#hasBegun) this.release();
  }

  /** Counts the request as completed, for throughput. A 4xx response also counts. */
  complete(): void {
    this.#limiter.complete(this);
  }

  /** Returns the permit to the limiter. Idempotent. */
  release(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#limiter.release(this);
  }
}
