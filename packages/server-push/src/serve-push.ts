import { ProtocolError } from '@waxwing/protocol';
import {
  type BoundOperation,
  createWebHandler,
  errorResponse,
  type NodeListener,
  toNodeListener,
} from '@waxwing/service/http';
import type { ServerPushOptions } from './server-push-options.js';

/** Two ways to serve the operations in a host's HTTP server. */
export interface ServedPush {
  /** Handles a request. Responds with 404 for a path without an operation. */
  handle(request: Request): Promise<Response>;
  /**
   * Returns a listener for `node:http`, which is also middleware for Express and Connect: it calls `next` for a path
   * without an operation. Mount it before body parsers.
   */
  toNodeListener(): NodeListener;
}

/** Serves the operations. @param closing aborts long polls. */
export function servePush(
  operations: readonly BoundOperation[],
  { log }: Pick<ServerPushOptions, 'log'>,
  closing: AbortSignal,
): ServedPush {
  const handler = createWebHandler({ operations, log, closing });
  return {
    handle: async (request) =>
      (await handler(request)) ?? errorResponse(request, new ProtocolError('NOT_FOUND')),
    toNodeListener: () => toNodeListener(handler, log),
  };
}
