import type { Clock } from '@waxwing/service/lifecycle';
import { type buildConnector, type Dispatcher, Pool } from 'undici';
import { SendGate } from '../send-gate.js';
import type { StaleConnections } from '../stale-connections.js';
import { HostBreaker } from './host-breaker.js';

export interface PushServiceOptions {
  readonly origin: string;
  readonly clock: Clock;
  readonly connect: buildConnector.connector;
  readonly staleConnections: StaleConnections;
  /** Timeout of one request, including connecting and the complete response. */
  readonly timeoutMilliseconds: number;
}

const provenConnections = 64;
const unprovenConnections = 4;
// Maximum number of queued requests. Many may wait for the first response of a host that is new to this process; a
// failing host soon opens its breaker, which refuses requests.
const maximumWaiting = { proven: 4096, fresh: 1024, failing: 64 };

/** One push service: its connections, its concurrency limit and its circuit breaker. */
export class PushService {
  readonly breaker: HostBreaker;
  /** Concurrency limit: 64 requests while the host is proven, otherwise 4. */
  readonly gate: SendGate;
  /** Errors that occurred while connecting (DNS, TCP, TLS), so that the request was not sent. */
  readonly connectionErrors = new WeakSet<Error>();
  readonly #options: PushServiceOptions;
  readonly #pool: Pool;
  /** Pool for resends. Opens a new connection for each request, because other idle connections may also be stale. */
  readonly #freshPool: Pool;

  constructor(options: PushServiceOptions) {
    this.#options = options;
    this.breaker = new HostBreaker(options.clock);
    this.gate = new SendGate(
      () => (this.breaker.isProven ? provenConnections : unprovenConnections),
      options.clock,
      () => this.#maximumWaiting,
    );
    this.#pool = this.#openPool();
    this.#freshPool = this.#openPool();
  }

  request(
    options: Omit<Dispatcher.RequestOptions, 'origin'>,
    { isResend }: { readonly isResend: boolean },
  ): Promise<Dispatcher.ResponseData> {
    const signal = AbortSignal.timeout(this.#options.timeoutMilliseconds);
    return (isResend ? this.#freshPool : this.#pool).request({ ...options, reset: isResend, signal });
  }

  /** Closes idle connections immediately, and busy connections after their requests. */
  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#freshPool.close()]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool.destroy(), this.#freshPool.destroy()]);
  }

  get #maximumWaiting(): number {
    if (this.breaker.isProven) return maximumWaiting.proven;
    return this.breaker.isFailing ? maximumWaiting.failing : maximumWaiting.fresh;
  }

  #openPool(): Pool {
    const { origin, connect, staleConnections, timeoutMilliseconds } = this.#options;
    const pool = new Pool(origin, {
      connections: provenConnections,
      headersTimeout: timeoutMilliseconds,
      bodyTimeout: timeoutMilliseconds,
      connect: staleConnections.watching(connect),
    });
    pool.on('connectionError', (_origin, _targets, error) => this.connectionErrors.add(error));
    return pool;
  }
}
