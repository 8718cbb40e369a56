import { Readable } from 'node:stream';
import { type JsonObject, ProtocolError, stringifyJson } from '@waxwing/protocol';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { expectedBodyBytes, receiveBody } from '../bodies/received-body.js';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import { json } from '../error-answer.js';
import type { Backlog } from '../overload/backlog.js';
import type { Places } from '../overload/places.js';
import { tellAnswered } from './answered.js';
import type { FastifyOperationRequest } from './fastify-operation-request.js';
import { ListAnswer, streamList } from './list-answer.js';
import { type OperationRequest, RawAnswer } from './operation.js';
import { factsOf, type RequestFacts } from './request-facts.js';
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
export function addOperation(app: FastifyInstance, route: OperationRoute): void {
  const { operation, places } = route;
  const { declared } = operation;
  const bodyLimit = declared.bodyLimitBytes ?? defaultBodyLimitBytes;
  // A file goes by in pieces; bodies of other kinds are kept for a moment, and do not become large because a file may be.
  const keptLimit = declared.body === 'file' ? defaultBodyLimitBytes : bodyLimit;
  app.route({
    method: servedMethods(declared.method),
    url: operation.route,
    bodyLimit: keptLimit,
    config: { operation },
    onRequest: (request, _reply, next) => {
      const admitting = admit(request, route, keptLimit);
      if (admitting === undefined) next();
      return admitting;
    },
    // One function all the way: each that waits for another makes a promise, which takes longer than what it does.
    handler: async (request, reply) => {
      const { actor, received, work } = factsOf(request);
      if (received.actor === undefined) {
        places.take(received.exchange, { actor: undefined, requests: 1, bodyBytes: 0 });
      }
      const body = receiveBody(request, bodyLimit);
      received.body = body instanceof Promise ? await body : body;
      work?.resume();
      try {
        const asked = new Asked(actor, received.parameters(operation), received);
        let answer: Awaited<ReturnType<ServedOperation['handle']>>;
        try {
          answer = await operation.handle(asked);
        } catch (error) {
          // A refusal for what was asked is work that is done, as an answer is.
          if (error instanceof ProtocolError && error.httpStatus < 500) work?.answered();
          throw error;
        }
        work?.answered();
        return sendAnswer(reply, operation, answer);
      } finally {
        work?.end();
      }
    },
  });
}

/** Lets a request in: at once, and resolves nothing, where who asks is known at once. */
function admit(request: FastifyRequest, route: OperationRoute, keptLimit: number): Promise<void> | undefined {
  const facts = factsOf(request);
  facts.work = route.backlog?.enter(facts.received.exchange);
  const actor = route.operation.authenticate?.(facts.received);
  const takePlace = (known: unknown): void => {
    facts.actor = known;
    takePlaceOf(facts, route, expectedBodyBytes(request, keptLimit));
  };
  if (actor instanceof Promise) return actor.then(takePlace);
  takePlace(actor);
  return undefined;
}

function takePlaceOf(
  { actor: authenticated, received, work }: RequestFacts,
  { operation, places }: OperationRoute,
  bodyBytes: number,
): void {
  const { actor, exchange } = received;
  exchange.actor = actor;
  const lane = actor === undefined ? undefined : operation.declared.lane?.(received);
  // Whoever is not known takes the place when the body is whole.
  const requests = actor === undefined ? 0 : 1;
  places.take(exchange, { actor, lane, requests, bodyBytes });
  work?.admit(actor ?? received.address ?? 'anybody');
  work?.pause();
  operation.charge?.(authenticated);
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
