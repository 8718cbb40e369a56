import { ProtocolError } from '@waxwing/protocol';
import {
  type BoundOperation,
  createWebHandler,
  errorResponse,
  type NodeListener,
  toNodeListener,
} from '@waxwing/service/http';
import type { ServerPushOptions } from './server-push-options.js';

/** Ways to serve the operations in a host's HTTP server. */
export interface ServedPush {
  /** Answers a request; 404 for a path without an operation. */
  handle(request: Request): Promise<Response>;
  /**
   * A listener for `node:http`, and middleware for Express and Connect, which calls `next` for a path without an
   * operation. Mount it before body parsers.
   */
  toNodeListener(): NodeListener;
}

/** @param closing aborts long polls. */
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
