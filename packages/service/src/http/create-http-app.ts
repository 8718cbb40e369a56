import { randomBytes } from 'node:crypto';
import { errorCodes, ProtocolError, stringifyJson } from '@waxwing/protocol';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { answerWithin } from '../lifecycle/answer-within.js';
import type { Log } from '../logging/create-logger.js';
import type { Metrics } from '../metrics/metrics.js';
import { errorAnswer, toProtocolError } from './error-answer.js';
import { FastifyOperationRequest } from './fastify-operation-request.js';
import { type Operation, RawAnswer } from './operation.js';
import { acceptBodies, receiveBody } from './received-body.js';

export interface HttpAppOptions {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly operations: readonly Operation[];
  /**
   * What must be well for `/health/ready`: each check answers `undefined`, or a sentence that says what is wrong; one
   * that does not answer within three seconds is not well.
   */
  readonly readiness: Readonly<Record<string, () => Promise<string | undefined>>>;
  /** Requests handled at once; one more is answered 503 with Retry-After. */
  readonly maximumRequestsInFlight?: number;
  /** How long closing waits for requests that are under way or still arrive; six seconds where nothing is said. */
  readonly closePatienceMilliseconds?: number;
}

const defaultBodyLimitBytes = 64 * 1024;
const checkTimeoutMilliseconds = 3000;
const defaultClosePatienceMilliseconds = 6000;
const json = 'application/json; charset=utf-8';

interface RequestFacts {
  operation?: Operation;
  actor?: string | undefined;
  code?: string;
}

/** The HTTP side of a service: the operations, health, one log line a request, one place for errors. */
export async function createHttpApp(options: HttpAppOptions): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    bodyLimit: defaultBodyLimitBytes,
    genReqId: requestIds(),
    exposeHeadRoutes: false,
    requestTimeout: 30_000,
    keepAliveTimeout: 75_000,
    // A long poll must not hold up closing: it is answered through its abort signal instead.
    forceCloseConnections: 'idle',
  });
  const closing = new AbortController();
  app.addHook('preClose', async () => {
    closing.abort();
    // Nothing else ends a connection whose request never arrives whole: a closing server checks no timeouts.
    const patience = options.closePatienceMilliseconds ?? defaultClosePatienceMilliseconds;
    setTimeout(() => app.server.closeAllConnections(), patience).unref();
  });
  // A connection that is kept alive after its last answer would hold up closing for as long.
  app.addHook('onSend', async (_request, reply) => {
    if (closing.signal.aborted) reply.header('connection', 'close');
  });
  await acceptBodies(app);
  const facts = new WeakMap<FastifyRequest, RequestFacts>();
  const answerError = (request: FastifyRequest, reply: FastifyReply, thrown: unknown): FastifyReply => {
    const error = toProtocolError(thrown);
    if (error.httpStatus === 500)
      options.log.error({ err: error.cause, request: request.id }, 'unexpected error');
    const answer = errorAnswer(error);
    facts.set(request, { ...facts.get(request), code: answer.code });
    return reply.code(answer.httpStatus).headers(answer.headers).type(json).send(answer.body);
  };
  app.setErrorHandler((error, request, reply) => answerError(request, reply, error));
  app.setNotFoundHandler((request, reply) =>
    answerError(request, reply, notFound(options.operations, request)),
  );
  limitRequestsInFlight(app, options.maximumRequestsInFlight ?? 10_000, closing.signal);
  logRequests(app, options, facts);
  addHealth(app, options.readiness, closing.signal);
  for (const operation of options.operations) {
    const bodyLimit = operation.bodyLimitBytes ?? defaultBodyLimitBytes;
    app.route({
      method: operation.method,
      url: operation.path,
      bodyLimit,
      handler: async (request, reply) => {
        const fact: RequestFacts = { operation };
        facts.set(request, fact);
        const body = await receiveBody(request, bodyLimit);
        const received = new FastifyOperationRequest(request, reply, body, closing.signal);
        try {
          const answer = await operation.handle(received);
          if (answer instanceof RawAnswer) {
            return reply.code(answer.httpStatus).headers(answer.headers).send(answer.body);
          }
          const ignored = received.ignoredParameters();
          const extra = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
          const text = stringifyJson({ result: 'success', msg: '', ...answer, ...extra });
          return reply.header('cache-control', 'no-store').type(json).send(`${text}\n`);
        } finally {
          fact.actor = received.actor;
        }
      },
    });
  }
  return app;
}

function requestIds(): () => string {
  const prefix = randomBytes(4).toString('hex');
  let count = 0;
  return () => `${prefix}-${(++count).toString(36)}`;
}

function notFound(operations: readonly Operation[], request: FastifyRequest): ProtocolError {
  const path = request.url.split('?', 1)[0];
  const methods = operations.filter((operation) => operation.path === path).map(({ method }) => method);
  if (methods.length === 0) return new ProtocolError('NOT_FOUND');
  const message = `${errorCodes.METHOD_NOT_ALLOWED.message}: use ${methods.join(' or ')}`;
  return new ProtocolError('METHOD_NOT_ALLOWED', { message, fields: { allowed_methods: methods } });
}

function limitRequestsInFlight(app: FastifyInstance, maximum: number, closing: AbortSignal): void {
  let inFlight = 0;
  app.addHook('onRequest', async (_request, reply) => {
    if (closing.aborted || inFlight >= maximum) {
      throw new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
    }
    inFlight += 1;
    reply.raw.once('close', () => {
      inFlight -= 1;
    });
  });
}

function logRequests(
  app: FastifyInstance,
  { log, metrics }: HttpAppOptions,
  facts: WeakMap<FastifyRequest, RequestFacts>,
): void {
  app.addHook('onResponse', async (request, reply) => {
    const fact = facts.get(request);
    const operation = fact?.operation ? `${fact.operation.method} ${fact.operation.path}` : 'none';
    const status = reply.statusCode;
    metrics.requestSeconds.observe({ operation, status }, reply.elapsedTime / 1000);
    const milliseconds = Math.round(reply.elapsedTime * 10) / 10;
    log.info({ request: request.id, operation, status, milliseconds, actor: fact?.actor, code: fact?.code });
  });
}

function addHealth(app: FastifyInstance, readiness: HttpAppOptions['readiness'], closing: AbortSignal): void {
  app.get('/health/live', async (_request, reply) => reply.type(json).send('{"live":true}\n'));
  app.get('/health/ready', async (_request, reply) => {
    const late = `no answer within ${checkTimeoutMilliseconds / 1000} seconds`;
    const states = await Promise.all(
      Object.entries(readiness).map(async ([name, check]) => {
        const trouble = await answerWithin(checkTimeoutMilliseconds, check(), late);
        return [name, trouble ?? 'ok'] as const;
      }),
    );
    const checks: Record<string, string> = {
      ...(closing.aborted ? { process: 'closing' } : {}),
      ...Object.fromEntries(states),
    };
    const ready = Object.values(checks).every((state) => state === 'ok');
    return reply
      .code(ready ? 200 : 503)
      .type(json)
      .send(`${JSON.stringify({ ready, checks })}\n`);
  });
}
