import type { FastifyInstance } from 'fastify';
import type { BoundOperation } from '../operations/operation.js';
import { serveOperations } from '../operations/served-operation.js';
import type { NodeListener } from './node-listener.js';

/** A Fastify app, or a scope within one. */
export type FastifyApp = FastifyInstance;

/**
 * Adds the paths of operations to a host's Fastify app. Each request is taken over before its body is parsed, so the
 * host's parsers and later hooks do not run. The host's `onRequest` and `onResponse` hooks do run.
 */
export function mountInFastify(
  app: FastifyApp,
  operations: readonly BoundOperation[],
  listener: NodeListener,
): void {
  for (const path of new Set(serveOperations(operations).map(({ route }) => route))) {
    app.all(path, {
      onRequest: async (request, reply) => {
        reply.hijack();
        listener(request.raw, reply.raw);
      },
      handler: () => {
        throw new Error('the request is already answered');
      },
    });
  }
}
