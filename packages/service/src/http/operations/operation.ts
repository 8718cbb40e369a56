import type { Readable } from 'node:stream';
import type { ErrorCode, JsonObject } from '@waxwing/protocol';
import { z } from 'zod';
import type { UploadedFile } from '../bodies/uploaded-file.js';
import type { BasicCredentials } from './basic-credentials.js';
import type { EncodedAnswer } from './encoded-answer.js';
import type { ListAnswer } from './list-answer.js';

/** A request before its body is read. */
export interface RequestHead {
  readonly id: string;
  /** The client's IPv4 address or IPv6 /64; `undefined` behind a proxy that is not configured as trusted. */
  readonly address: string | undefined;
  /** For the log: `address` or, if the client's address is unknown, the address of the connection. */
  readonly nearestAddress: string | undefined;
  /** Returns the credentials in the `Authorization` header. @throws ProtocolError like `parseBasicCredentials`. */
  basicCredentials(): BasicCredentials;
  /** Returns a request header, with repeated values joined by commas; `undefined` if absent. */
  header(name: string): string | undefined;
  /** Returns a query parameter; `undefined` if absent or repeated. */
  queryParameter(name: string): string | undefined;
  /** Sets the actor's id for the log line and for per-actor limits. The id must not be an e-mail address. */
  setActor(actor: string): void;
}

/** A kind of actor, with a function that authenticates the actor from the head of a request. */
export interface ActorKind<Context, Actor> {
  /** Name of the kind in the OpenAPI document, such as `user`. */
  readonly name: string;
  /** Describes the actor's credentials in the OpenAPI document. */
  readonly description: string;
  /** The header that contains the credentials, if other than `Authorization` (HTTP Basic). */
  readonly header?: string;
  /** Whether requests without credentials are also accepted. */
  readonly isOptional?: boolean;
  /** Error codes that `authenticate` throws. */
  readonly codes: readonly ErrorCode[];
  /**
   * Authenticates a request and sets its actor with {@link RequestHead.setActor}. A refused request does not take up a
   * slot, and its body is never buffered. Should return synchronously where possible, because a promise per request is
   * expensive. If this method is absent, clients need no credentials.
   */
  authenticate?(context: Context, head: RequestHead): Actor | Promise<Actor>;
}

/** An unauthenticated client. */
export const anyone: ActorKind<unknown, undefined> = {
  name: 'anybody',
  description: 'No credentials are needed.',
  codes: [],
};

/** The request that is passed to a handler. */
export interface OperationRequest<Parameters, Actor> {
  readonly actor: Actor;
  readonly parameters: Parameters;
  readonly head: RequestHead;
  /** Aborted when the client disconnects, a newer request replaces this one in the same lane, or the service closes. */
  readonly signal: AbortSignal;
  /** `undefined` if no file was sent, or if the operation accepts no file. */
  readonly file: UploadedFile | undefined;
  /**
   * Call this before an action that must not happen twice, if the work before it may be slow. A client that has given
   * up in the meantime may send its request again.
   * @throws AbortError if the client has disconnected
   */
  requireClient(): void;
  /**
   * Waits for the client's next tick in the fair scheduler. Call this outside transactions, before each piece of work
   * that takes milliseconds of CPU time. Requests from other clients can start between two ticks.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if the process is overloaded, unless `isRefusable` is
   * false
   */
  nextTick(options?: { readonly isRefusable: boolean }): Promise<void>;
  /**
   * Runs `work` once the actor has a free slot, and returns its result. Only for long polls, which hold no slot while
   * they wait for an event but need one to read the database. Other operations already hold a slot, so they would
   * deadlock.
   * @throws ProtocolError SERVICE_UNAVAILABLE with Retry-After if the process is overloaded
   * @throws AbortError if the exchange ends before `work` starts
   */
  runPiece<Result>(work: () => Promise<Result>): Promise<Result>;
}

/**
 * An answer other than the usual JSON success, for example with a different status, headers, a stream, or no body
 * (304).
 */
export class RawAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` for a status without a body. */
  readonly body: string | Readable | undefined;
  /** The fields of a JSON body except `result` and `msg`, if known. Tests compare them with the declaration. */
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

/** A handler's answer that is not a plain object of fields. */
export type SpecialAnswer = RawAnswer | ListAnswer | EncodedAnswer;

/** An answer with these fields, in which one field is a streamed list. */
type ListOf<Fields> = {
  [Name in keyof Fields & string]: Fields[Name] extends readonly (infer Entry)[]
    ? ListAnswer<Name, Entry, Omit<Fields, Name>>
    : never;
}[keyof Fields & string];

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Declares one HTTP method, path and handler. An app lists all its operations in one file. Parsing, 405 responses, the
 * OpenAPI document and tests are derived from the declarations.
 */
export interface Operation<Context, Actor, Parameters extends z.ZodObject, Answer extends z.ZodObject> {
  readonly method: Method;
  /** The path, with parameters in braces: `/api/v1/messages/{message_id}`. */
  readonly path: string;
  /** One sentence for the OpenAPI document. */
  readonly summary: string;
  readonly actor: ActorKind<NoInfer<Context>, Actor>;
  /**
   * Parameters from the path, the form or multipart form, and the query string. Each schema parses a string. If `body`
   * is `json`, this is the schema of the JSON body together with the path parameters.
   */
  readonly parameters: Parameters;
  /** Aliases of parameters, mostly former names, as a map from alias to name. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** The API feature level that added each parameter, as a map from parameter to level. */
  readonly since?: Readonly<Partial<Record<keyof NoInfer<Parameters>['shape'] & string, number>>>;
  /** The kind of body; a form by default. `file` means a multipart form whose last part is a file. */
  readonly body?: 'form' | 'json' | 'file';
  /** Maximum size of the body (or of the file, if `body` is `file`), in bytes. Default: 64 KiB. */
  readonly bodyLimitBytes?: number;
  /** The response fields other than `result` and `msg`. */
  readonly answer: Answer;
  /** Content type of a success that is not JSON, such as `text/html`. Such an answer is a {@link RawAnswer}. */
  readonly answerType?: string;
  /** Whether the response has an ETag. If so, a matching `If-None-Match` gets 304. */
  readonly isCacheable?: boolean;
  /** Error codes of `handle`, in addition to those of authentication and parameters. */
  readonly codes: readonly ErrorCode[];
  /** Whether the latency depends on an external system, such as a vendor, or on a `BoundedQueue`. */
  readonly waitsForOthers?: boolean;
  /** Whether each request is one short write, so that many concurrent requests of one actor can share a commit. */
  readonly sharesCommits?: boolean;
  /**
   * Returns the lane of a long poll: a newer request of the same actor and lane replaces the older one. `undefined`
   * means no lane.
   */
  lane?(head: RequestHead): string | undefined;
  /**
   * Counts the request toward a rate limit before the body is received. @throws ProtocolError if the actor exceeds the
   * limit.
   */
  charge?(context: Context, actor: Actor): void;
  /**
   * Returns the response fields. Some may already be encoded, or one may be a streamed list.
   * @throws ProtocolError for an error response
   */
  handle(
    context: Context,
    request: OperationRequest<z.output<Parameters>, Actor>,
  ): Promise<z.input<Answer> | RawAnswer | EncodedAnswer<z.input<Answer>> | ListOf<z.input<Answer>>>;
  /** Never set. Exists only for type checking, so that a context without a required part does not compile. */
  readonly needs?: (context: Context) => void;
}

/** An operation with any actor, parameters and answer. */
export type AnyOperation<Context = never> = Operation<Context, unknown, z.ZodObject, z.ZodObject>;

export const noParameters = z.object({});

/** An answer without fields. */
export const noAnswer = z.object({});

/** Declares an operation and infers its types. @throws Error if a parameter in the path is not declared. */
export function operation<Context, Actor, Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  declared: Operation<Context, Actor, Parameters, Answer>,
): Operation<Context, Actor, Parameters, Answer> {
  for (const name of pathParameters(declared.path)) {
    if (name in declared.parameters.shape) continue;
    throw new Error(`${declared.method} ${declared.path} declares no parameter ${name}`);
  }
  return declared;
}

/** Returns the names of the parameters in a path, in order. */
export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** An operation with its context, ready to be served. */
export interface BoundOperation {
  readonly declared: AnyOperation;
  readonly authenticate: ((head: RequestHead) => unknown) | undefined;
  readonly charge: ((actor: unknown) => void) | undefined;
  readonly handle: (request: OperationRequest<unknown, unknown>) => Promise<JsonObject | SpecialAnswer>;
}

export function bindOperations<Context>(
  context: Context,
  operations: readonly AnyOperation<NoInfer<Context>>[],
): BoundOperation[] {
  return operations.map((declared) => {
    const { actor, charge } = declared;
    return {
      declared: declared as AnyOperation,
      authenticate: actor.authenticate && ((head) => actor.authenticate?.(context, head)),
      charge: charge && ((requester) => charge(context, requester)),
      handle: (request) =>
        declared.handle(context, request as OperationRequest<Record<string, unknown>, unknown>) as Promise<
          JsonObject | SpecialAnswer
        >,
    };
  });
}
