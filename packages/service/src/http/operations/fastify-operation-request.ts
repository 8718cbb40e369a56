import type { FastifyRequest } from 'fastify';
import type { Exchange } from '../exchange.js';
import type { RequestScheduler } from '../overload/request-scheduler.js';
import type { ShutdownSignals } from '../shutdown-signals.js';
import { ReceivedRequest } from './received-request.js';

/** Objects shared by all requests of an app. */
interface SharedParts {
  readonly shutdownSignals: ShutdownSignals;
  readonly scheduler: RequestScheduler;
  addressOf(exchange: Exchange): string | undefined;
  nearestAddressOf(exchange: Exchange): string;
}

/** An operation's view of a Fastify request. */
export class FastifyOperationRequest extends ReceivedRequest {
  readonly exchange: Exchange;
  readonly #request: FastifyRequest;
  readonly #shared: SharedParts;

  constructor(request: FastifyRequest, exchange: Exchange, shared: SharedParts) {
    super();
    this.#request = request;
    this.exchange = exchange;
    this.#shared = shared;
  }

  get id(): string {
    return this.#request.id;
  }

  get address(): string | undefined {
    return this.#shared.addressOf(this.exchange);
  }

  get nearestAddress(): string {
    return this.#shared.nearestAddressOf(this.exchange);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  get signal(): AbortSignal {
    return this.#shared.shutdownSignals.signalOf(this.exchange);
  }

  get scheduler(): RequestScheduler {
    return this.#shared.scheduler;
  }

  protected get pathParameters(): Record<string, string> {
    return this.#request.params as Record<string, string>;
  }

  /** The query string, which Fastify is configured to leave unparsed. */
  protected get queryText(): string {
    return this.#request.query as string;
  }
}
