import type { Readable } from 'node:stream';
import type { ErrorCode, JsonObject } from '@waxwing/protocol';
import { z } from 'zod';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import type { BasicCredentials } from './basic-credentials.js';
import type { ListAnswer } from './list-answer.js';

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly id: string;
  /** The IPv4 address or IPv6 /64 that it comes from; `undefined` where a proxy is before us that we know nothing of. */
  readonly address: string | undefined;
  /** The `Authorization` header's credentials. @throws ProtocolError UNAUTHORIZED when there are none. */
  basicCredentials(): BasicCredentials;
  /** A request header as text; `undefined` when absent. */
  header(name: string): string | undefined;
  /** A parameter of the query string; `undefined` when it is absent or there several times. */
  queryParameter(name: string): string | undefined;
  /** Names the requester in the log line and counts its requests: an id, never an e-mail address. */
  setActor(actor: string): void;
}

/** A kind of requester, and how it is recognised by the head of a request alone. */
export interface ActorKind<Context, Actor> {
  /** Names the kind in the OpenAPI document, such as `user`. */
  readonly name: string;
  /** What credentials such a requester sends, for the OpenAPI document. */
  readonly description: string;
  /** The header that they are in, where it is not HTTP Basic's. */
  readonly header?: string;
  /** What `authenticate` refuses with. */
  readonly codes: readonly ErrorCode[];
  /**
   * Who asks: whoever is refused here has sent no body that was kept, and takes nobody's place. Names the actor with
   * {@link RequestHead.setActor}. Answered at once where nothing is waited for, which saves much of what a request costs.
   * Anybody may ask where there is none.
   */
  authenticate?(context: Context, head: RequestHead): Actor | Promise<Actor>;
}

/** Whoever can reach the service, without credentials. */
export const anybody: ActorKind<unknown, undefined> = {
  name: 'anybody',
  description: 'No credentials are needed.',
  codes: [],
};

/** What an operation may know of a request. */
export interface OperationRequest<Parameters, Actor> {
  readonly actor: Actor;
  readonly parameters: Parameters;
  readonly head: RequestHead;
  /** Aborted when the requester has gone away, a newer request takes this one's place, or the service is closing. */
  readonly signal: AbortSignal;
  /** `undefined` where none came, and where the operation takes none. */
  readonly file: UploadedFile | undefined;
}

/** An answer that is not the usual success: another status, headers, a stream, or no body (304). */
export class RawAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` where the status has none. A stream is sent as it comes. */
  readonly body: string | Readable | undefined;
  /** What a body of JSON holds beside `result` and `msg`, where it is known: it is held against what is declared. */
  readonly fields: JsonObject | undefined;

  constructor(
    httpStatus: number,
    headers: Readonly<Record<string, string>>,
    body: string | Readable | undefined,
    fields?: JsonObject,
  ) {
    this.httpStatus = httpStatus;
    this.headers = headers;
    this.body = body;
    this.fields = fields;
  }
}

/** An answer of such fields as a stream of a list among them. */
type ListOf<Fields> = {
  [Name in keyof Fields & string]: Fields[Name] extends readonly (infer Entry)[]
    ? ListAnswer<Name, Entry, Omit<Fields, Name>>
    : never;
}[keyof Fields & string];

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * One HTTP method, path and handler, with everything that is to be said about them. An app lists all of its operations
 * in one file. Parsing, refusals of wrong methods, the OpenAPI document and tests are made from the value.
 */
export interface Operation<Context, Actor, Parameters extends z.ZodObject, Answer extends z.ZodObject> {
  readonly method: Method;
  /** Parts in braces are parameters: `/api/v1/messages/{message_id}`. */
  readonly path: string;
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  readonly actor: ActorKind<NoInfer<Context>, Actor>;
  /**
   * From the path, the form or multipart form, and the query string; each is given to its shape as text. Where `body` is
   * `json`, the shape of that body.
   */
  readonly parameters: Parameters;
  /** Other names of parameters, older ones for the most part: alias -> name. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The API's feature level from which on a parameter is taken, where it was not always: parameter -> level. */
  readonly since?: Readonly<Partial<Record<keyof NoInfer<Parameters>['shape'] & string, number>>>;
  /** What the body is: a form where nothing is said; `file` for a multipart form whose last part is a file. */
  readonly body?: 'form' | 'json' | 'file';
  /** Largest body in bytes; 64 KiB where nothing is said. The largest file where `body` is `file`. */
  readonly bodyLimitBytes?: number;
  /** The fields of the answer beside `result` and `msg`. */
  readonly answer: Answer;
  /** The type of a success that is no JSON, such as `text/html`; a {@link RawAnswer} carries it. */
  readonly answerType?: string;
  /** Whether whoever has the answer already is answered 304. */
  readonly isCacheable?: boolean;
  /** What `handle` refuses with, beside what its actor and parameters are refused with. */
  readonly codes: readonly ErrorCode[];
  /** Whether an answer takes as long as somebody outside does, such as a vendor, or as a bounded line in which it waits. */
  readonly waitsForOthers?: boolean;
  /** Of an actor's requests with the same lane only the newest is kept; none where `undefined` is answered. */
  lane?(head: RequestHead): string | undefined;
  /** Takes what the request costs its actor before its body is received. @throws ProtocolError when it is too much. */
  charge?(context: Context, actor: Actor): void;
  /** The answer's fields, or the one of them that is a long list. Refusals are thrown as ProtocolError. */
  handle(
    context: Context,
    request: OperationRequest<z.output<Parameters>, Actor>,
  ): Promise<z.input<Answer> | RawAnswer | ListOf<z.input<Answer>>>;
  /** Never set: makes a context that lacks what the operation needs a type error. */
  readonly needs?: (context: Context) => void;
}

/** An operation with whatever actor, parameters and answer. */
export type AnyOperation<Context = never> = Operation<Context, unknown, z.ZodObject, z.ZodObject>;

/** Parameters of an operation that has none. */
export const noParameters = z.object({});

/** Answer of an operation that says no more than that it succeeded. */
export const noAnswer = z.object({});

/** Declares an operation; the types of its parts follow from each other. */
export function operation<Context, Actor, Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  declared: Operation<Context, Actor, Parameters, Answer>,
): Operation<Context, Actor, Parameters, Answer> {
  const inPath = pathParameters(declared.path);
  if (declared.body === 'json' && inPath.length > 0) {
    throw new Error(`${declared.method} ${declared.path} takes JSON: its path can have no parameters`);
  }
  for (const name of inPath) {
    if (name in declared.parameters.shape) continue;
    throw new Error(`${declared.method} ${declared.path} declares no parameter ${name}`);
  }
  return declared;
}

/** The names in braces of a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** An operation with what it works with: what an HTTP app serves. */
export interface BoundOperation {
  readonly declared: AnyOperation;
  readonly authenticate: ((head: RequestHead) => unknown) | undefined;
  readonly charge: ((actor: unknown) => void) | undefined;
  readonly handle: (
    request: OperationRequest<unknown, unknown>,
  ) => Promise<JsonObject | RawAnswer | ListAnswer>;
}

/** Binds operations to what they work with. */
export function bindOperations<Context>(
  context: Context,
  operations: readonly AnyOperation<NoInfer<Context>>[],
): BoundOperation[] {
  return operations.map((declared) => {
    const { actor, charge } = declared;
    return {
      declared: declared as AnyOperation,
      authenticate: actor.authenticate && ((head) => actor.authenticate?.(context, head)),
      charge: charge && ((who) => charge(context, who)),
      handle: (request) =>
        declared.handle(context, request as OperationRequest<Record<string, unknown>, unknown>) as Promise<
          JsonObject | RawAnswer | ListAnswer
        >,
    };
  });
}
