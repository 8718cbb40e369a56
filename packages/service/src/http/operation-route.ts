import { Readable } from 'node:stream';
import { type JsonObject, ProtocolError, stringifyJson } from '@waxwing/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { tellAnswered } from './answered.js';
import type { Backlog, Work } from './backlog.js';
import { json } from './error-answer.js';
import type { FastifyOperationRequest } from './fastify-operation-request.js';
import { ListAnswer, streamList } from './list-answer.js';
import { type OperationRequest, RawAnswer, type UploadedFile } from './operation.js';
import type { Places } from './places.js';
import { expectedBodyBytes, receiveBody } from './received-body.js';
import { factsOf } from './request-facts.js';
import { type ServedOperation, servedMethods } from './served-operation.js';

export const defaultBodyLimitBytes = 64 * 1024;

export interface OperationRoute {
  readonly operation: ServedOperation;
  readonly places: Places;
  /** None for requests that wait until something happens: how long they take says nothing. */
  readonly backlog: Backlog | undefined;
}

/** What a handler is given. Of a class, because to make an object with a getter of its own takes longer than all of it. */
class Asked implements OperationRequest<unknown, unknown> {
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

  /** Made only where it is asked for. */
  get signal(): AbortSignal {
    return this.head.signal;
  }
}

/**
 * Serves one operation: what it may hold, and what it costs, is decided by the head of a request, before the body is
 * read.
 */
export function addOperation(app: FastifyInstance, { operation, places, backlog }: OperationRoute): void {
  const { declared, route } = operation;
  const bodyLimit = declared.bodyLimitBytes ?? defaultBodyLimitBytes;
  // A file goes by in pieces; bodies of other kinds are kept for a moment, and do not become large because a file may be.
  const keptLimit = declared.body === 'file' ? defaultBodyLimitBytes : bodyLimit;
  app.route({
    method: servedMethods(declared.method),
    url: route,
    bodyLimit: keptLimit,
    config: { operation },
    onRequest: (request) => admit(request, { operation, places, backlog }, keptLimit),
    handler: async (request, reply) => {
      const { actor, received, work } = factsOf(request);
      if (received.actor === undefined) {
        places.take(received.exchange, { actor: undefined, requests: 1, bodyBytes: 0 });
      }
      received.body = await receiveBody(request, bodyLimit);
      work?.resume();
      try {
        const parameters = received.parameters(operation);
        const answering = operation.handle(new Asked(actor, parameters, received));
        return sendAnswer(reply, operation, await counted(work, answering));
      } finally {
        work?.end();
      }
    },
  });
}

/** Tells of an answer, and of a refusal for what was asked: both are work that is done. */
async function counted<Answer>(work: Work | undefined, answering: Promise<Answer>): Promise<Answer> {
  try {
    const answer = await answering;
    work?.answered();
    return answer;
  } catch (error) {
    if (error instanceof ProtocolError && error.httpStatus < 500) work?.answered();
    throw error;
  }
}

async function admit(
  request: FastifyRequest,
  { operation, places, backlog }: OperationRoute,
  keptLimit: number,
): Promise<void> {
  const { authenticate, declared } = operation;
  const facts = factsOf(request);
  const { received } = facts;
  const { exchange } = received;
  const work = backlog?.enter(exchange);
  facts.work = work;
  if (authenticate !== undefined) facts.actor = await authenticate(received);
  const { actor } = received;
  exchange.actor = actor;
  const lane = actor === undefined ? undefined : declared.lane?.(received);
  // Whoever is not known takes the place when the body is whole.
  const requests = actor === undefined ? 0 : 1;
  places.take(exchange, { actor, lane, requests, bodyBytes: expectedBodyBytes(request, keptLimit) });
  work?.admit(received.actor ?? received.address ?? 'anybody');
  work?.pause();
  operation.charge?.(facts.actor);
}

function sendAnswer(
  reply: FastifyReply,
  { declared, reader }: ServedOperation,
  answer: JsonObject | RawAnswer | ListAnswer,
): FastifyReply {
  if (answer instanceof RawAnswer) {
    const { body, fields, headers, httpStatus } = answer;
    tellAnswered(() => ({ declared, httpStatus, code: undefined, fields }));
    return sendBody(reply.code(httpStatus).headers(headers), body);
  }
  const ignored = factsOf(reply.request).received.ignoredParameters(reader);
  const extra = ignored.length > 0 ? { ignored_parameters_unsupported: ignored } : {};
  reply.header('cache-control', 'no-store').type(json);
  if (answer instanceof ListAnswer) {
    const tell = (piece: readonly unknown[]): void =>
      tellAnswered(() => {
        const fields = { ...answer.rest, [answer.name]: piece };
        return { declared, httpStatus: 200, code: undefined, fields };
      });
    tell([]);
    return sendBody(reply, streamList(answer, extra, tell));
  }
  tellAnswered(() => ({ declared, httpStatus: 200, code: undefined, fields: answer }));
  return reply.send(`${stringifyJson({ result: 'success', msg: '', ...answer, ...extra })}\n`);
}

/** HEAD is answered as GET is, but for the body: one that would be read piece by piece is not read. */
function sendBody(reply: FastifyReply, body: string | Readable | undefined): FastifyReply {
  if (reply.request.method !== 'HEAD' || !(body instanceof Readable)) return reply.send(body);
  body.destroy();
  return reply.send();
}
