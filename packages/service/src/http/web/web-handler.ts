import { setImmediate } from 'node:timers/promises';
import type { JsonObject } from '@waxwing/protocol';
import type { Log } from '../../logging/create-logger.js';
import { rewritePath } from '../bodies/percent-encoding.js';
import { toProtocolError } from '../error-answer.js';
import { notFound } from '../not-found.js';
import { publishAnswer } from '../operations/answer-channel.js';
import type { BoundOperation, Method, OperationRequest, SpecialAnswer } from '../operations/operation.js';
import { defaultBodyLimitBytes } from '../operations/operation-route.js';
import { requestIds } from '../operations/request-ids.js';
import {
  methodsOf,
  operationsAt,
  type ServedOperation,
  servedMethods,
  serveOperations,
} from '../operations/served-operation.js';
import { Lanes } from './lanes.js';
import { readWebBody } from './read-web-body.js';
import { errorResponse, successResponse } from './web-answer.js';
import { WebOperationRequest } from './web-operation-request.js';

/**
 * Handles a request to one of its operations. Resolves to `undefined` if no operation has the request's path. The Fetch
 * API does not provide the client address, so a host that knows the address passes it in `client`.
 */
export type WebHandler = (request: Request, client?: WebClient) => Promise<Response | undefined>;

export interface WebClient {
  readonly address: string | undefined;
}

export interface WebHandlerOptions {
  readonly operations: readonly BoundOperation[];
  /** Logs unexpected errors. Requests are logged by the host. */
  readonly log: Pick<Log, 'error'>;
  /** Aborts long polls when the host closes. */
  readonly closing?: AbortSignal;
}

/**
 * Serves operations with the Fetch API's `Request` and `Response`, without a separate HTTP app. Authenticates each
 * request by its head, before the body is read, and limits the size of bodies. Limiting connections and request rates
 * is up to the host.
 *
 * @throws Error if an operation accepts a file
 */
export function createWebHandler({ closing, log, ...options }: WebHandlerOptions): WebHandler {
  const operations = serveOperations(options.operations);
  for (const { declared, name } of operations) {
    if (declared.body === 'file')
      throw new Error(`${name} accepts a file, which only createHttpApp supports.`);
  }
  const nextId = requestIds();
  const lanes = new Lanes(closing);
  return async (request, client) => {
    const { pathname, search } = new URL(request.url);
    const path = rewritePath(pathname);
    const here = operationsAt(operations, path);
    if (here.length === 0) return undefined;
    const operation = here.find(({ declared }) => serves(declared.method, request.method));
    const id = nextId();
    try {
      if (operation === undefined) throw notFound(methodsOf(here));
      const source = {
        id,
        path,
        pattern: operation.declared.path,
        query: search.slice(1),
        address: client?.address,
      };
      const received = new WebOperationRequest(request, source);
      const answer = await answerOf(operation, { request, received, lanes });
      return successResponse(request, operation, { answer, received });
    } catch (thrown) {
      const error = toProtocolError(thrown);
      // An aborted request also fails, because its body ends early. That is not an error in this server.
      if (error.httpStatus === 500 && !request.signal.aborted) {
        log.error({ err: error.cause, request: id }, 'unexpected error');
      }
      if (operation !== undefined) publishError(operation, error);
      return errorResponse(request, error);
    }
  };
}

interface Received {
  readonly request: Request;
  readonly received: WebOperationRequest;
  readonly lanes: Lanes;
}

async function answerOf(
  operation: ServedOperation,
  { request, received, lanes }: Received,
): Promise<JsonObject | SpecialAnswer> {
  const { declared } = operation;
  const actor = await operation.authenticate?.(received);
  operation.charge?.(actor);
  received.body = await readWebBody(request, declared.bodyLimitBytes ?? defaultBodyLimitBytes);
  const run = (signal: AbortSignal) => {
    const handled: OperationRequest<unknown, unknown> = {
      actor,
      parameters: received.parameters(operation),
      head: received,
      file: received.file,
      signal,
      requireClient: () => request.signal.throwIfAborted(),
      nextTick: async () => void (await setImmediate()),
      runPiece: (work) => work(),
    };
    return operation.handle(handled);
  };
  const lane = declared.lane?.(received);
  if (lane === undefined) return run(request.signal);
  return lanes.run(`${received.actor} ${lane}`, request.signal, run);
}

function serves(declared: Method, method: string): boolean {
  return (servedMethods(declared) as string[]).includes(method);
}

function publishError(
  { declared }: ServedOperation,
  { code, httpStatus }: ReturnType<typeof toProtocolError>,
) {
  publishAnswer(() => ({ declared, httpStatus, code, fields: undefined }));
}
