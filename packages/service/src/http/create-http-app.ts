import { randomBytes } from 'node:crypto';
import { errorCodes, ProtocolError, stringifyJson } from '@waxwing/protocol';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Log } from '../logging/create-logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { Connections } from './connections.js';
import { errorAnswer, toProtocolError } from './error-answer.js';
import { FastifyOperationRequest } from './fastify-operation-request.js';
import { addHealth, asksForHealth } from './health-routes.js';
import { defaultHttpLimits, type HttpLimits } from './http-limits.js';
import { type Operation, RawAnswer } from './operation.js';
import { Places } from './places.js';
import { Readiness, type ReadinessChecks } from './readiness.js';
import { acceptBodies, expectedBodyBytes, receiveBody } from './received-body.js';

export interface HttpAppOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly operations: readonly Operation[];
  /** What must be well for `/health/ready`. */
  readonly readiness: Readiness | ReadinessChecks;
  /** What is not said is as in {@link defaultHttpLimits}. */
  readonly limits?: Partial<HttpLimits>;
  /** What an actor with too many requests is answered: 429 where nothing is said, 503 where peers take that for final. */
  readonly actorRefusalStatus?: 429 | 503;
  /** How long closing waits for requests that are under way or still arrive; six seconds where nothing is said. */
  readonly closePatienceMilliseconds?: number;
}

const defaultBodyLimitBytes = 64 * 1024;
const defaultClosePatienceMilliseconds = 6000;
const json = 'application/json; charset=utf-8';

/** What the hooks of one app share. */
interface Door {
  readonly options: HttpAppOptions;
  readonly connections: Connections;
  readonly places: Places;
  readonly closing: AbortSignal;
  readonly facts: WeakMap<FastifyRequest, RequestFacts>;
}

interface RequestFacts {
  readonly operation: Operation | undefined;
  readonly received: FastifyOperationRequest;
  code?: string;
}

/** The HTTP side of a service: the operations, health, its limits, one log line a request, one place for errors. */
export async function createHttpApp(options: HttpAppOptions): Promise<FastifyInstance> {
  const { log, metrics } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const closing = new AbortController();
  const onRefusal = (reason: string): void => metrics.httpRefusals.inc({ reason });
  const connections = new Connections({ limits, log, onRefusal });
  const places = new Places({ limits, onRefusal, actorRefusalStatus: options.actorRefusalStatus ?? 429 });
  const door: Door = { options, connections, places, closing: closing.signal, facts: new WeakMap() };
  metrics.watchHttp(() => ({
    connections: connections.count,
    requestsInFlight: places.requestsInFlight,
    bodyBytesInFlight: places.bodyBytesInFlight,
  }));
  const app = fastify({
    logger: false,
    bodyLimit: defaultBodyLimitBytes,
    genReqId: requestIds(),
    exposeHeadRoutes: false,
    serverFactory: (handle) => connections.serve(handle),
    // A long poll must not hold up closing: it is answered through its abort signal instead.
    forceCloseConnections: 'idle',
  });
  app.addHook('preClose', async () => {
    closing.abort();
    // Nothing else ends a connection whose request never arrives whole: a closing server checks no timeouts.
    const patience = options.closePatienceMilliseconds ?? defaultClosePatienceMilliseconds;
    setTimeout(() => app.server.closeAllConnections(), patience).unref();
  });
  acceptBodies(app);
  admitRequests(app, door);
  logRequests(app, door);
  app.setErrorHandler((error, request, reply) => answerError(door, { request, reply, thrown: error }));
  const { readiness } = options;
  addHealth(app, readiness instanceof Readiness ? readiness : new Readiness(readiness, log), closing.signal);
  for (const operation of options.operations) addOperation(app, door, operation);
  return app;
}

function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** What every request passes first, whatever it asks for. */
function admitRequests(app: FastifyInstance, { closing, connections, facts, options }: Door): void {
  app.addHook('onRequest', (request, reply, next) => {
    const exchange = connections.exchangeOf(request.raw, reply.raw);
    const operation = operationOf(request);
    facts.set(request, { operation, received: new FastifyOperationRequest(request, exchange, closing) });
    if (asksForHealth(request)) return next();
    if (closing.aborted || connections.isSurplus(request.raw)) {
      return next(new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 }));
    }
    try {
      connections.countForwarded(exchange);
    } catch (error) {
      return next(error as Error);
    }
    // Here, because Fastify would read the body first.
    next(request.is404 ? notFound(options.operations, request) : undefined);
  });
  app.addHook('onSend', (request, reply, _payload, next) => {
    // One that is kept alive after its last answer would hold up closing for as long.
    if (closing.aborted || connections.isSurplus(request.raw)) reply.header('connection', 'close');
    // The connection is kept, or ended, by how soon the rest of a body comes that nobody reads; ending it at once would
    // take the answer from a requester that still sends.
    else reply.removeHeader('connection');
    next();
  });
}

function operationOf(request: FastifyRequest): Operation | undefined {
  return (request.routeOptions.config as { operation?: Operation }).operation;
}

function addOperation(app: FastifyInstance, door: Door, operation: Operation): void {
  const { places, facts } = door;
  const bodyLimit = operation.bodyLimitBytes ?? defaultBodyLimitBytes;
  const actors = new WeakMap<FastifyRequest, unknown>();
  app.route({
    method: operation.method,
    url: operation.path,
    bodyLimit,
    config: { operation },
    onRequest: async (request) => {
      const { received } = facts.get(request) as RequestFacts;
      const { exchange } = received;
      const bodyBytes = expectedBodyBytes(request, bodyLimit);
      if (operation.authenticate !== undefined) {
        actors.set(request, await operation.authenticate(received));
        const lane = operation.lane?.(received);
        places.take(exchange, { actor: received.actor, lane, requests: 1, bodyBytes });
      } else if (bodyBytes > 0) {
        places.take(exchange, { actor: undefined, requests: 0, bodyBytes });
      }
    },
    handler: async (request, reply) => {
      const { received } = facts.get(request) as RequestFacts;
      if (operation.authenticate === undefined) {
        places.take(received.exchange, { actor: undefined, requests: 1, bodyBytes: 0 });
      }
      received.body = await receiveBody(request);
      const answer = await operation.handle(received, actors.get(request));
      if (answer instanceof RawAnswer) {
        return reply.code(answer.httpStatus).headers(answer.headers).send(answer.body);
      }
      const ignored = received.ignoredParameters();
      const extra = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
      const text = stringifyJson({ result: 'success', msg: '', ...answer, ...extra });
      return reply.header('cache-control', 'no-store').type(json).send(`${text}\n`);
    },
  });
}

interface Failure {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly thrown: unknown;
}

function answerError({ options, facts }: Door, { request, reply, thrown }: Failure): FastifyReply {
  const error = toProtocolError(thrown);
  const fact = facts.get(request);
  if (error.httpStatus === 500 && !isOfLeaving(thrown, request, fact)) {
    options.log.error({ err: error.cause, request: request.id }, 'unexpected error');
  }
  const answer = errorAnswer(error);
  if (fact !== undefined) fact.code = answer.code;
  return reply.code(answer.httpStatus).headers(answer.headers).type(json).send(answer.body);
}

/** Whether an error says no more than that the requester went away. */
function isOfLeaving(thrown: unknown, { raw }: FastifyRequest, fact: RequestFacts | undefined): boolean {
  if (thrown === raw.errored) return true;
  return (thrown as Error).name === 'AbortError' && fact?.received.exchange.isOver === true;
}

function notFound(operations: readonly Operation[], request: FastifyRequest): ProtocolError {
  const path = request.url.split('?', 1)[0];
  const methods = operations.filter((operation) => operation.path === path).map(({ method }) => method);
  if (methods.length === 0) return new ProtocolError('NOT_FOUND');
  const message = `${errorCodes.METHOD_NOT_ALLOWED.message}: use ${methods.join(' or ')}`;
  return new ProtocolError('METHOD_NOT_ALLOWED', { message, fields: { allowed_methods: methods } });
}

function logRequests(app: FastifyInstance, { options: { log, metrics }, facts }: Door): void {
  const describe = (request: FastifyRequest) => {
    const { operation, received, code } = facts.get(request) ?? {};
    const name = operation ? `${operation.method} ${operation.path}` : 'none';
    return { request: request.id, operation: name, actor: received?.actor, code };
  };
  app.addHook('onRequest', (request, reply, next) => {
    facts.get(request)?.received.exchange.whenOver(() => {
      if (reply.raw.writableEnded) return;
      metrics.httpAborted.inc();
      log.debug(describe(request), 'the requester went away before the answer');
    });
    next();
  });
  app.addHook('onResponse', (request, reply, next) => {
    const { request: id, operation, actor, code } = describe(request);
    const status = reply.statusCode;
    metrics.requestSeconds.observe({ operation, status }, reply.elapsedTime / 1000);
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    log.info({ request: id, operation, status, milliseconds, actor, code });
    next();
  });
}
