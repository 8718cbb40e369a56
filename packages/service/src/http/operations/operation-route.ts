import { Readable } from 'node:stream';
import { type JsonObject, ProtocolError } from '@waxwing/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { inRequestSpan } from '../../tracing/spans.js';
import { expectedBodyBytes, isLarge, longUrlBytes, receiveBody } from '../bodies/received-body.js';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import { json } from '../error-answer.js';
import type { ConcurrencyLimiter } from '../overload/concurrency-limiter.js';
import type { InFlightCaps } from '../overload/in-flight-caps.js';
import { publishAnswer } from './answer-channel.js';
import { EncodedAnswer, encodedBody } from './encoded-answer.js';
import type { FastifyOperationRequest } from './fastify-operation-request.js';
import { ListAnswer, type Streaming, streamList } from './list-answer.js';
import { type OperationRequest, RawAnswer } from './operation.js';
import { factsOf, type RequestFacts } from './request-facts.js';
import { type ServedOperation, servedMethods } from './served-operation.js';
import { ignoredParameters, successBody } from './success-answer.js';

export const defaultBodyLimitBytes = 64 * 1024;

export interface OperationRoute {
  readonly operation: ServedOperation;
  readonly caps: InFlightCaps;
  /** The operation's concurrency limiter. `undefined` for long polls, because their latency does not indicate load. */
  readonly limiter: ConcurrencyLimiter | undefined;
}

/** The request that is passed to a handler. A class, because object literals with getters are slow to create. */
class HandledRequest implements OperationRequest<unknown, unknown> {
  readonly actor: unknown;
  readonly parameters: unknown;
  readonly head: FastifyOperationRequest;

  constructor(actor: unknown, parameters: unknown, head: FastifyOperationRequest) {
    this.actor = actor;
    this.parameters = parameters;
    this.head = head;
  }

  get file(): UploadedFile | undefined {
    return this.head.file;
  }

  /** Created lazily, because most handlers do not need a signal. */
  get signal(): AbortSignal {
    return this.head.signal;
  }

  requireClient(): void {
    this.head.exchange.requireClient();
  }

  nextTick({ isRefusable } = { isRefusable: true }): Promise<void> {
    return this.head.scheduler.nextTick(this.head.exchange, isRefusable);
  }

  async runPiece<Result>(work: () => Promise<Result>): Promise<Result> {
    const { exchange, scheduler } = this.head;
    const endPiece = scheduler.tryPiece(exchange) ?? (await scheduler.beginPiece(exchange, true));
    try {
      return await work();
    } finally {
      endPiece();
    }
  }
}

/**
 * Registers the route of one operation. Authentication, limits and charges need only the head of a request, so they are
 * applied before the body is read.
 */
export function addOperation(app: FastifyInstance, route: OperationRoute): void {
  const { operation } = route;
  const { declared } = operation;
  const bodyLimit = declared.bodyLimitBytes ?? defaultBodyLimitBytes;
  // Files are streamed and may be large. All other bodies are buffered, so their limit is small.
  const bufferedLimit = declared.body === 'file' ? defaultBodyLimitBytes : bodyLimit;
  app.route({
    method: servedMethods(declared.method),
    url: operation.route,
    bodyLimit: bufferedLimit,
    config: { operation },
    onRequest: (request, _reply, next) => {
      const admitting = admit(request, route, bufferedLimit);
      if (admitting === undefined) next();
      return admitting;
    },
    handler: (request, reply) => handle(request, reply, route),
  });
}

/**
 * Handles a request. A single function: each additional async function would add a promise that costs more than the
 * function's own work.
 */
async function handle(
  request: FastifyRequest,
  reply: FastifyReply,
  { caps, operation }: OperationRoute,
): Promise<FastifyReply> {
  const { declared } = operation;
  const { actor, received, permit } = factsOf(request);
  const { exchange, scheduler } = received;
  if (received.actor === undefined) {
    caps.acquire(exchange, { actor: undefined, requests: 1, bodyBytes: 0 });
  }
  // Long polls, uploads, and operations that wait for other systems use almost no CPU time, so they are not scheduled.
  const isPiece = declared.lane === undefined && declared.body !== 'file' && !declared.waitsForOthers;
  let endPiece: (() => void) | undefined;
  let isStreaming = false;
  try {
    // Parsing a large body blocks the event loop. Large bodies that arrive in one tick are parsed in separate ticks.
    if (isLarge(request)) await scheduler.nextTick(exchange, true);
    const body = receiveBody(request, declared.bodyLimitBytes ?? defaultBodyLimitBytes);
    received.body = body instanceof Promise ? await body : body;
    permit?.resume();
    if (isPiece) endPiece = scheduler.tryPiece(exchange) ?? (await scheduler.beginPiece(exchange, true));
    const handled = new HandledRequest(actor, received.parameters(operation), received);
    let answer: Awaited<ReturnType<ServedOperation['handle']>>;
    try {
      answer = await inRequestSpan(
        operation.name,
        received.header('traceparent'),
        () => operation.handle(handled),
        isFault,
      );
    } catch (error) {
      // A 4xx counts as a completed request.
      if (error instanceof ProtocolError && error.httpStatus < 500) permit?.complete();
      throw error;
    }
    if (answer instanceof ListAnswer) {
      endPiece?.();
      // The first chunk is a separate piece of work. Once it has begun, the request can no longer be refused.
      const endChunk = await scheduler.beginPiece(exchange, true);
      isStreaming = true;
      return sendList(reply, operation, { answer, endChunk });
    }
    permit?.complete();
    return sendAnswer(reply, operation, answer);
  } finally {
    endPiece?.();
    if (!isStreaming) permit?.release();
  }
}

function isFault(error: unknown): boolean {
  return !(error instanceof ProtocolError) || error.httpStatus >= 500;
}

/** Authenticates and admits a request. Returns a promise only if `authenticate` does. */
function admit(
  request: FastifyRequest,
  route: OperationRoute,
  bufferedLimit: number,
): Promise<void> | undefined {
  const facts = factsOf(request);
  facts.permit = route.limiter?.acquire(facts.received.exchange);
  const actor = route.operation.authenticate?.(facts.received);
  const acquire = (known: unknown): void => {
    facts.actor = known;
    const bodyBytes = expectedBodyBytes(request, bufferedLimit) + longUrlBytes(request.raw.url);
    acquireSlot(facts, route, bodyBytes);
  };
  if (actor instanceof Promise) {
    return actor.then((known) => {
      // The client may have disconnected during the database read.
      facts.received.exchange.requireClient();
      acquire(known);
    });
  }
  acquire(actor);
  return undefined;
}

function acquireSlot(
  { actor: authenticated, received, permit }: RequestFacts,
  { operation, caps }: OperationRoute,
  bodyBytes: number,
): void {
  const { actor, exchange } = received;
  exchange.actor = actor;
  exchange.sharesCommits = operation.declared.sharesCommits ?? false;
  const lane = actor === undefined ? undefined : operation.declared.lane?.(received);
  // An unauthenticated client gets a slot only after its whole body has arrived.
  const requests = actor === undefined ? 0 : 1;
  caps.acquire(exchange, { actor, lane, requests, bodyBytes });
  permit?.admit(actor ?? received.address ?? 'anybody');
  permit?.pause();
  operation.charge?.(authenticated);
}

function sendAnswer(
  reply: FastifyReply,
  { declared, reader }: ServedOperation,
  answer: JsonObject | RawAnswer | EncodedAnswer,
): FastifyReply {
  if (answer instanceof RawAnswer) {
    const { body, fields, headers, httpStatus } = answer;
    publishAnswer(() => ({ declared, httpStatus, code: undefined, fields }));
    return sendBody(reply.code(httpStatus).headers(headers), body);
  }
  const extra = ignoredParameters(factsOf(reply.request).received, reader);
  reply.header('cache-control', 'no-store').type(json);
  if (answer instanceof EncodedAnswer) {
    publishAnswer(() => ({ declared, httpStatus: 200, code: undefined, fields: answer.decode() }));
    const { body, bytes } = encodedBody(answer, extra);
    return sendBody(reply.header('content-length', bytes), body);
  }
  publishAnswer(() => ({ declared, httpStatus: 200, code: undefined, fields: answer }));
  return reply.send(successBody(answer, extra));
}

/** Streams a list. The request keeps its permit until the end, so that the stream counts toward the operation's limit. */
function sendList(
  reply: FastifyReply,
  { declared, reader }: ServedOperation,
  { answer, endChunk }: { readonly answer: ListAnswer; readonly endChunk: () => void },
): FastifyReply {
  const { permit, received } = factsOf(reply.request);
  const { exchange, scheduler } = received;
  let end = endChunk;
  exchange.onEnd(() => {
    end();
    permit?.release();
  });
  const publish = (chunk: readonly unknown[]): void =>
    publishAnswer(() => {
      const fields = { ...answer.rest, [answer.name]: chunk };
      return { declared, httpStatus: 200, code: undefined, fields };
    });
  publish([]);
  const streaming: Streaming = {
    onChunk: publish,
    endChunk() {
      end();
      permit?.pause();
    },
    async beginChunk() {
      permit?.resume();
      end = await scheduler.beginPiece(exchange, false);
    },
    onComplete() {
      end();
      permit?.complete();
    },
  };
  return sendBody(
    reply.headers(answer.headers).type(json),
    streamList(answer, ignoredParameters(factsOf(reply.request).received, reader), streaming),
  );
}

/** Sends a body. For HEAD, sends the same response without the body and does not read a streamed body. */
function sendBody(reply: FastifyReply, body: string | Readable | undefined): FastifyReply {
  if (reply.request.method !== 'HEAD' || !(body instanceof Readable)) return reply.send(body);
  body.destroy();
  return reply.send();
}
