import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { defaultHttpLimits, type HttpLimits } from '../http-settings/http-limits.js';
import type { Log } from '../logging/create-logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { acceptBodies, acceptFiles } from './bodies/received-body.js';
import { ClosingExchanges } from './closing-exchanges.js';
import { Connections } from './connections/connections.js';
import { errorAnswer, json, refuseUnrouted, toProtocolError, unavailable } from './error-answer.js';
import type { Exchange } from './exchange.js';
import { addHealth, asksForHealth } from './health/health-routes.js';
import { Readiness, type ReadinessChecks } from './health/readiness.js';
import { isNotFound, notFound } from './not-found.js';
import { tellAnswered } from './operations/answered.js';
import { FastifyOperationRequest } from './operations/fastify-operation-request.js';
import { noteEnd } from './operations/note-end.js';
import type { BoundOperation } from './operations/operation.js';
import { addOperation, defaultBodyLimitBytes } from './operations/operation-route.js';
import { factsKey, factsOf, type RequestFacts } from './operations/request-facts.js';
import { type ServedOperation, serveOperations } from './operations/served-operation.js';
import { Backlog, type BacklogOptions } from './overload/backlog.js';
import { Places } from './overload/places.js';
import { watchProcess } from './overload/process-busy.js';

export interface HttpAppOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly operations: readonly BoundOperation[];
  /** What must be well for `/health/ready`. */
  readonly readiness: Readiness | ReadinessChecks;
  /** What is not said is as in {@link defaultHttpLimits}. */
  readonly limits?: Partial<HttpLimits>;
  /** What the names of the program's settings begin with, such as `SERVER_`; for what the log advises. */
  readonly settingsPrefix?: string;
  /** What an actor with too many requests is answered: 429 where nothing is said, 503 where peers take that for final. */
  readonly actorRefusalStatus?: 429 | 503;
  /** How long closing waits for requests that are under way or still arrive; six seconds where nothing is said. */
  readonly closePatienceMilliseconds?: number;
}

const defaultClosePatienceMilliseconds = 6000;
// A parameter in a path may be an e-mail address.
const maximumPathParameterCharacters = 400;

// Operations read what they are asked themselves: without these Fastify would load compilers for JSON schemas.
const noCompilers = { buildValidator: refuseSchema, buildSerializer: refuseSchema };

function refuseSchema(): never {
  throw new Error('No route may have a schema of Fastify: declare parameters and answer of an operation.');
}

/** What the hooks of one app share. */
interface Door {
  readonly options: HttpAppOptions;
  readonly operations: readonly ServedOperation[];
  readonly connections: Connections;
  readonly places: Places;
  readonly closing: AbortSignal;
}

/** The HTTP side of a service: the operations, health, its limits, one log line a request, one place for errors. */
export async function createHttpApp(options: HttpAppOptions): Promise<FastifyInstance> {
  const { log, metrics, settingsPrefix = '' } = options;
  const limits = { ...defaultHttpLimits, ...options.limits };
  const closing = new AbortController();
  const onRefusal = (reason: string): void => metrics.httpRefusals.inc({ reason });
  const connections = new Connections({ limits, log, onRefusal, settingsPrefix, closing: closing.signal });
  const places = new Places({ limits, onRefusal, actorRefusalStatus: options.actorRefusalStatus ?? 429 });
  const operations = serveOperations(options.operations);
  const door: Door = { options, operations, connections, places, closing: closing.signal };
  metrics.watchHttp(() => ({
    connections: connections.count,
    requestsInFlight: places.requestsInFlight,
    bodyBytesInFlight: places.bodyBytesInFlight + connections.waitingBodyBytes,
  }));
  // Loaded by who serves: commands declare operations too, and would wait for it.
  const { default: fastify } = await import('fastify');
  const app = fastify({
    logger: false,
    bodyLimit: defaultBodyLimitBytes,
    genReqId: requestIds(),
    exposeHeadRoutes: false,
    schemaController: { compilersFactory: noCompilers },
    routerOptions: { maxParamLength: maximumPathParameterCharacters },
    frameworkErrors: (error, request, reply) => answerUnrouted(log, { request, reply, thrown: error }),
    serverFactory: (handle) => connections.serve(handle),
    // A long poll must not hold up closing: it is answered through its abort signal instead.
    forceCloseConnections: 'idle',
    // Its refusal while it closes is not in the words of ours, which are below.
    return503OnClosing: false,
  });
  app.addHook('preClose', async () => {
    // First, as some are answered because it closes. Node takes one that has never asked for anything for one that is
    // about to.
    connections.endSoon();
    closing.abort();
    // Nothing else ends a connection whose request never arrives whole: a closing server checks no timeouts.
    const patience = options.closePatienceMilliseconds ?? defaultClosePatienceMilliseconds;
    setTimeout(() => app.server.closeAllConnections(), patience).unref();
  });
  acceptBodies(app);
  admitRequests(app, door);
  app.setErrorHandler((error, request, reply) => answerError(door, { request, reply, thrown: error }));
  const { readiness } = options;
  addHealth(app, readiness instanceof Readiness ? readiness : new Readiness(readiness, log), closing.signal);
  const onOverload = (): void => onRefusal('overload');
  addOperations(app, door, { limits, onOverload });
  return app;
}

/** Those that take files apart, because they take multipart forms as they come. */
function addOperations(
  app: FastifyInstance,
  { operations, places }: Door,
  options: Pick<BacklogOptions, 'limits' | 'onOverload'>,
): void {
  const isProcessBusy = watchProcess();
  const takesFile = ({ declared }: ServedOperation): boolean => declared.body === 'file';
  const addTo = (part: FastifyInstance, operation: ServedOperation): void => {
    // A file takes as long as its requester does.
    const { lane, waitsForOthers = takesFile(operation) } = operation.declared;
    const backlog =
      lane === undefined ? new Backlog({ ...options, waitsForOthers, isProcessBusy }) : undefined;
    addOperation(part, { operation, places, backlog });
  };
  for (const operation of operations) if (!takesFile(operation)) addTo(app, operation);
  app.register(async (part) => {
    acceptFiles(part);
    for (const operation of operations.filter(takesFile)) addTo(part, operation);
  });
}

function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

/** What every request passes first, whatever it asks for. */
function admitRequests(app: FastifyInstance, { closing, connections, operations, options }: Door): void {
  app.decorateRequest(factsKey, null);
  const surroundings = {
    closingExchanges: new ClosingExchanges(closing),
    addressOf: ({ request }: Exchange) => connections.addresses.of(request),
  };
  // Fastify's hooks for what is sent and was sent would cost each request more than what is done there.
  app.addHook('onRequest', (request, reply, next) => {
    const exchange = connections.exchangeOf(request.raw, reply.raw);
    const received = new FastifyOperationRequest(request, exchange, surroundings);
    const facts: RequestFacts = {
      operation: operationOf(request),
      received,
      beganAt: performance.now(),
      actor: undefined,
      code: undefined,
      work: undefined,
    };
    request[factsKey] = facts;
    if (closing.aborted || exchange.isSurplus) exchange.response.shouldKeepAlive = false;
    exchange.whenOver(() => noteEnd(facts, options));
    if (asksForHealth(request)) return next();
    if (closing.aborted || exchange.isSurplus) return next(unavailable());
    try {
      connections.countForwarded(exchange);
    } catch (error) {
      return next(error as Error);
    }
    // Here, because Fastify would read the body first.
    next(isNotFound(request) ? notFound(operations, request) : undefined);
  });
}

function operationOf(request: FastifyRequest): ServedOperation | undefined {
  return (request.routeOptions.config as { operation?: ServedOperation }).operation;
}

/** Refuses what has no path that the router can read; no hook has seen it. */
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

function answerError({ options }: Door, { request, reply, thrown }: Failure): FastifyReply {
  const error = toProtocolError(thrown);
  const facts = factsOf(request);
  if (error.httpStatus === 500 && !isOfLeaving(thrown, request)) {
    options.log.error({ err: error.cause, request: request.id }, 'unexpected error');
  }
  const answer = errorAnswer(error);
  facts.code = answer.code;
  const { operation } = facts;
  if (operation !== undefined) {
    const { declared } = operation;
    tellAnswered(() => ({ declared, httpStatus: answer.httpStatus, code: answer.code, fields: undefined }));
  }
  // The connection is kept, or ended, by how soon the rest of a body comes that nobody reads; ending it at once would take
  // the answer from a requester that still sends.
  if (facts.received.exchange.response.shouldKeepAlive) reply.removeHeader('connection');
  return reply.code(answer.httpStatus).headers(answer.headers).type(json).send(answer.body);
}

/** Whether an error says no more than that the requester went away. */
function isOfLeaving(thrown: unknown, request: FastifyRequest): boolean {
  if (thrown === request.raw.errored) return true;
  return (thrown as Error).name === 'AbortError' && factsOf(request).received.exchange.isOver;
}
