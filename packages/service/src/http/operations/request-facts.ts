import type { FastifyRequest } from 'fastify';
import type { Work } from '../overload/backlog.js';
import type { FastifyOperationRequest } from './fastify-operation-request.js';
import type { ServedOperation } from './served-operation.js';

/** What is known of a request beside what Fastify knows. */
export interface RequestFacts {
  readonly operation: ServedOperation | undefined;
  readonly received: FastifyOperationRequest;
  /** When its turn came, by `performance.now()`. */
  readonly beganAt: number;
  /** What the operation's `authenticate` answered. */
  actor: unknown;
  code: string | undefined;
  /** `undefined` until its operation has begun with it, and where that has no backlog. */
  work: Work | undefined;
}

export const factsKey = Symbol('facts');

declare module 'fastify' {
  interface FastifyRequest {
    /** A property, because a weak map of all requests keeps the garbage collector busy. */
    [factsKey]: RequestFacts | null;
  }
}

/** What is known of a request that has passed the first hook, which none can leave out. */
export function factsOf(request: FastifyRequest): RequestFacts {
  const facts = request[factsKey];
  if (facts === null) throw new Error('a request was handled that has not passed the first hook');
  return facts;
}
