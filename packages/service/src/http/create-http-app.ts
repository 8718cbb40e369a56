import type { IncomingMessage } from 'node:http';
import { type ProtocolError, refused } from '@waxwing/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defaultHttpLimits, type HttpLimits } from '../http-settings/http-limits.js';
import type { Log } from '../logging/create-logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { rewritePath } from './bodies/percent-encoding.js';
import { acceptBodies, acceptFiles } from './bodies/received-body.js';
import { Connections } from './connections/connections.js';
import { describeHostProblem } from './connections/host-header.js';
import {
  errorAnswer,
  json,
  refusalReason,
  refuseUnrouted,
  toProtocolError,
  unavailable,
} from './error-answer.js';
import type { Exchange } from './exchange.js';
import { addHealth, asksForHealth, isHealthPath } from './health/health-routes.js';
import { Readiness, type ReadinessChecks } from './health/readiness.js';
import { isNotFound, notFoundIn } from './not-found.js';
import { publishAnswer } from './operations/answer-channel.js';
import { FastifyOperationRequest } from './operations/fastify-operation-request.js';
import type { BoundOperation } from './operations/operation.js';
import { addOperation, defaultBodyLimitBytes } from './operations/operation-route.js';
import { recordRequest } from './operations/record-request.js';
import { factsKey, factsOf, type RequestFacts } from './operations/request-facts.js';
import { requestIds } from './operations/request-ids.js';
import { longPollsAmong, type ServedOperation, serveOperations } from './operations/served-operation.js';
import { ConcurrencyLimiter, type ConcurrencyLimiterOptions } from './overload/concurrency-limiter.js';
import { InFlightCaps } from './overload/in-flight-caps.js';
import { RequestScheduler } from './overload/request-scheduler.js';
import { watchEventLoop } from './overload/watch-event-loop.js';
import { ShutdownSignals } from './shutdown-signals.js';

export interface HttpAppOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly operations: readonly BoundOperation[];
  /** Checks that must pass before `/health/ready` succeeds. */
  readonly readiness: Readiness | ReadinessChecks;
  /** Missing limits default to {@link defaultHttpLimits}. */
  readonly limits?: Partial<HttpLimits>;
  /** Prefix of the program's settings, such as `SERVER_`. Used in log messages that mention settings. */
  readonly settingsPrefix?: string;
  /**
   * HTTP status for an actor with too many requests. The default is 429. Use 503 for peers that treat 429 as a
   * permanent error.
   */
  readonly actorRefusalStatus?: 429 | 503;
  /**
   * Maximum concurrent handlers per actor. Reduced to 1 while the actor's handlers are slow. Default: unlimited. Long
   * polls, uploads, and operations that wait for other systems do not count.
   */
  readonly handlersPerActor?: number;
  /** How long a graceful shutdown waits for requests in flight, in milliseconds. Default 6000. */
  readonly closePatienceMilliseconds?: number;
}

const defaultClosePatienceMilliseconds = 6000;
const routerOptions = {
  // Long enough for an email address in a path.
  maxParamLength: 400,
  // Operations parse the query string themselves, because Fastify's parser leaves a whole value undecoded after one bad
  // escape.
  querystringParser: (text: string) => text as unknown as Record<string, string>,
};

// Operations validate their own parameters. Without these stubs, Fastify would load its JSON schema compilers.
const noCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error(
    'A route must not have a Fastify schema: declare the parameters and the answer in an operation.',
  );
}

function requestKinds(operations: readonly ServedOperation[]) {
  const isLongPoll = longPollsAmong(operations);
  return (request: IncomingMessage) => {
    if (isHealthPath(request.url ?? '')) return 'health';
    return isLongPoll(request) ? 'long-poll' : 'other';
  };
}

/** State shared by the hooks of one app. */
interface AppParts {
  readonly options: HttpAppOptions;
  readonly operations: readonly ServedOperation[];
  readonly connections: Connections;
  readonly scheduler: RequestScheduler;
  readonly caps: InFlightCaps;
  readonly readiness: Readiness;
  readonly closing: AbortSignal;
}

/**
 * Creates a service's HTTP app: its operations, health checks and limits. The app writes one log line per request and
 * converts errors to responses in one place.
 */
export async function createHttpApp(options: HttpAppOptions): Promise<FastifyInstance> {
  const { log, metrics } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const closing = new AbortController();
  const onRefusal = (reason: string): void => metrics.httpRefusals.inc({ reason });
  const shared = { limits, log, onRefusal, closing: closing.signal };
  const operations = serveOperations(options.operations);
  const scheduler = new RequestScheduler({
    ...shared,
    maximumPiecesPerActor: options.handlersPerActor,
    kindOf: requestKinds(operations),
  });
  const connections = new Connections({ ...shared, scheduler, settingsPrefix: options.settingsPrefix ?? '' });
  const caps = new InFlightCaps({ limits, onRefusal, actorRefusalStatus: options.actorRefusalStatus ?? 429 });
  const readiness =
    options.readiness instanceof Readiness ? options.readiness : new Readiness(options.readiness, log);
  const shutdown = { readiness, closing: closing.signal };
  const parts: AppParts = { options, operations, connections, scheduler, caps, ...shutdown };
  metrics.watchHttp(() => ({
    connections: connections.count,
    requestsInFlight: caps.requestsInFlight,
    bodyBytesInFlight: caps.bodyBytesInFlight + connections.pipelinedBodyBytes,
  }));
  // Loaded lazily, because commands import this module too but do not need Fastify.
  const { default: fastify } = await import('fastify');
  const app = fastify({
    logger: false,
    bodyLimit: defaultBodyLimitBytes,
    genReqId: requestIds(),
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: noCompilers },
    rewriteUrl: ({ url = '' }) => rewritePath(url),
    routerOptions,
    frameworkErrors: (error, request, reply) => answerUnrouted(log, { request, reply, thrown: error }),
    serverFactory: (handle) => connections.serve(handle),
    clientErrorHandler: (error, socket) => connections.refuseUnparsed(error, socket),
    // Closes only idle connections. Long polls in flight finish when the abort signal fires.
    forceCloseConnections: 'idle',
    // Fastify's 503 does not use the protocol's error format. The onRequest hook refuses requests instead.
    return503OnClosing: false,
  });
  app.addHook('preClose', async () => endRequests(app, parts, closing));
  acceptBodies(app);
  admitRequests(app, parts);
  app.setErrorHandler((error, request, reply) => answerError(parts, { request, reply, thrown: error }));
  addHealth(app, readiness);
  addOperations(app, parts, { limits, onOverload: () => onRefusal('overload') });
  return app;
}

function endRequests(
  app: FastifyInstance,
  { connections, options, readiness }: AppParts,
  closing: AbortController,
): void {
  // Must precede the abort, so that the responses to long polls close their connections. Also ends connections that
  // never sent a request, which Node does not count as idle.
  connections.endSoon();
  readiness.beginDraining();
  closing.abort();
  // A closing Node server no longer checks timeouts, so an incomplete request would block shutdown.
  const patience = options.closePatienceMilliseconds ?? defaultClosePatienceMilliseconds;
  setTimeout(() => app.server.closeAllConnections(), patience).unref();
}

/**
 * Registers the operations. Operations that accept a file get a separate scope, in which multipart forms are streamed.
 */
function addOperations(
  app: FastifyInstance,
  { operations, caps }: AppParts,
  options: Pick<ConcurrencyLimiterOptions, 'limits' | 'onOverload'>,
): void {
  const isProcessBusy = watchEventLoop();
  const takesFile = ({ declared }: ServedOperation): boolean => declared.body === 'file';
  const addTo = (part: FastifyInstance, operation: ServedOperation): void => {
    // By default, an upload counts as waiting for an external system, because its duration depends on the client.
    const { lane, waitsForOthers = takesFile(operation) } = operation.declared;
    const limiter =
      lane === undefined ? new ConcurrencyLimiter({ ...options, waitsForOthers, isProcessBusy }) : undefined;
    addOperation(part, { operation, caps, limiter });
  };
  for (const operation of operations) if (!takesFile(operation)) addTo(app, operation);
  app.register(async (part) => {
    acceptFiles(part);
    for (const operation of operations.filter(takesFile)) addTo(part, operation);
  });
}

/** Adds the hook that runs first for every request. */
function admitRequests(app: FastifyInstance, parts: AppParts): void {
  const { closing, connections, operations, options, readiness, scheduler } = parts;
  app.decorateRequest(factsKey, null);
  const shared = {
    shutdownSignals: new ShutdownSignals(closing),
    scheduler,
    addressOf: ({ request }: Exchange) => connections.addresses.of(request),
    nearestAddressOf: ({ request }: Exchange) => connections.addresses.nearest(request),
  };
  // Listens on the exchange. Fastify's onSend and onResponse hooks would cost more per request than the work done here.
  app.addHook('onRequest', (request, reply, next) => {
    const exchange = connections.exchangeOf(request.raw, reply.raw);
    const received = new FastifyOperationRequest(request, exchange, shared);
    const facts: RequestFacts = {
      operation: operationOf(request),
      received,
      beganAt: performance.now(),
      actor: undefined,
      code: undefined,
      refused: undefined,
      address: undefined,
      permit: undefined,
    };
    request[factsKey] = facts;
    if (readiness.isDraining || exchange.isSurplus) exchange.response.shouldKeepAlive = false;
    exchange.onEnd(() => recordRequest(facts, options));
    const hostProblem = describeHostProblem(request.raw);
    if (hostProblem !== undefined) return next(refused(hostProblem));
    if (asksForHealth(request)) return next();
    if (closing.aborted) return next(unavailable('shutdown'));
    if (exchange.isSurplus) return next(unavailable('connections'));
    try {
      connections.countForwarded(exchange);
    } catch (error) {
      return next(error as Error);
    }
    // Refuses unknown paths here, because Fastify's 404 handler does not run until the body has been read.
    next(isNotFound(request) ? notFoundIn(operations, request) : undefined);
  });
}

function operationOf(request: FastifyRequest): ServedOperation | undefined {
  return (request.routeOptions.config as { operation?: ServedOperation }).operation;
}

/** Answers a request whose path the router cannot parse. Fastify runs no hooks for such a request. */
function answerUnrouted(log: Log, { request, reply, thrown }: Failure): void {
  const error = toProtocolError(thrown);
  const code = refuseUnrouted(reply.raw, error);
  log.info({ request: request.id, operation: 'none', status: error.httpStatus, code });
}

interface Failure {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly thrown: unknown;
}

function answerError({ options, connections }: AppParts, { request, reply, thrown }: Failure): FastifyReply {
  const error = toProtocolError(thrown);
  const facts = factsOf(request);
  if (error.httpStatus === 500 && !isFromDisconnect(thrown, request)) {
    options.log.error({ err: error.cause, request: request.id }, 'unexpected error');
  }
  const answer = errorAnswer(error);
  facts.code = answer.code;
  facts.refused = refusalReason(error);
  if (isGuess(error, facts)) facts.address = connections.addresses.nearest(request.raw);
  const { operation } = facts;
  if (operation !== undefined) {
    const { declared } = operation;
    publishAnswer(() => ({ declared, httpStatus: answer.httpStatus, code: answer.code, fields: undefined }));
  }
  // Fastify closes the connection after an unread body. A client that is still sending could then lose the response to
  // a TCP reset. The connection therefore stays open until the unread-body timeout.
  if (facts.received.exchange.response.shouldKeepAlive) reply.removeHeader('connection');
  return reply.code(answer.httpStatus).headers(answer.headers).type(json).send(answer.body);
}

/**
 * Whether the client may be guessing credentials. This is the case if the credentials are wrong, or if the client is
 * not authenticated and has made too many attempts.
 */
function isGuess({ code, httpStatus }: ProtocolError, { received }: RequestFacts): boolean {
  return httpStatus === 401 || (code === 'RATE_LIMIT_HIT' && received.actor === undefined);
}

/** Whether an error only means that the client has disconnected. */
function isFromDisconnect(thrown: unknown, request: FastifyRequest): boolean {
  if (thrown === request.raw.errored) return true;
  const { name, code } = thrown as NodeJS.ErrnoException;
  // ERR_STREAM_PREMATURE_CLOSE: the client disconnected before the head of a streamed response was sent.
  const isEnd = name === 'AbortError' || code === 'ERR_STREAM_PREMATURE_CLOSE';
  return isEnd && factsOf(request).received.exchange.isOver;
}
