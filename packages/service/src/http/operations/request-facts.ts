import type { FastifyRequest } from 'fastify';
import type { Permit } from '../overload/concurrency-limiter.js';
import type { FastifyOperationRequest } from './fastify-operation-request.js';
import type { ServedOperation } from './served-operation.js';

/** State that the app keeps for a request, in addition to Fastify's. */
export interface RequestFacts {
  readonly operation: ServedOperation | undefined;
  readonly received: FastifyOperationRequest;
  /** When the scheduler started the request, from `performance.now()`. */
  readonly beganAt: number;
  /** The result of the operation's `authenticate`. */
  actor: unknown;
  code: string | undefined;
  /**
   * Why the request was refused: the limit that was hit, or the resource that was unavailable. Set for every 429 and
   * 503.
   */
  refused: string | undefined;
  /** The client's address. Set only after a failed authentication that may be an attempt to guess credentials. */
  address: string | undefined;
  /** `undefined` before the operation's route is reached, and for operations without a concurrency limit. */
  permit: Permit | undefined;
}

export const factsKey = Symbol('facts');

declare module 'fastify' {
  interface FastifyRequest {
    /** Stored as a property, because a WeakMap of all requests would slow down garbage collection. */
    [factsKey]: RequestFacts | null;
  }
}

/** Returns the facts of a request, which the first `onRequest` hook sets. */
export function factsOf(request: FastifyRequest): RequestFacts {
  const facts = request[factsKey];
  if (facts === null) throw new Error('a request was handled before the first hook ran');
  return facts;
}
