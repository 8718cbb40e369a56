import type { JsonObject, JsonValue } from '@waxwing/protocol';
import type { z } from 'zod';
import type { BasicCredentials } from './basic-credentials.js';

/** What is known of a request before its body is read. */
export interface RequestHead {
  readonly id: string;
  /** The `Authorization` header's credentials. @throws ProtocolError UNAUTHORIZED when there are none. */
  basicCredentials(): BasicCredentials;
  /** A request header as text; `undefined` when absent. */
  header(name: string): string | undefined;
  /** A parameter of the query string; `undefined` when it is absent or there several times. */
  queryParameter(name: string): string | undefined;
  /** Names the requester in the log line and counts its requests: an id, never an e-mail address. */
  setActor(actor: string): void;
}

/** What an operation may know of a request. */
export interface OperationRequest extends RequestHead {
  /**
   * The parameters that `schema` names, from the form, the multipart form or the query string.
   * @throws ProtocolError REQUEST_VARIABLE_MISSING or BAD_REQUEST, for the first parameter that is wrong.
   */
  parameters<S extends z.ZodObject>(schema: S): z.infer<S>;
  /** The JSON body, integers never rounded. @throws ProtocolError UNSUPPORTED_MEDIA_TYPE for any other body. */
  jsonBody(): JsonValue;
  /** Aborted when the requester has gone away, a newer request takes this one's place, or the service is closing. */
  readonly signal: AbortSignal;
}

/** An answer that is not the usual success: another status, headers, or no body (304). */
export class RawAnswer {
  readonly httpStatus: number;
  readonly headers: Readonly<Record<string, string>>;
  /** `undefined` where the status has none. */
  readonly body: string | undefined;

  constructor(httpStatus: number, headers: Readonly<Record<string, string>>, body: string | undefined) {
    this.httpStatus = httpStatus;
    this.headers = headers;
    this.body = body;
  }
}

/** One HTTP method, path and handler. An app lists all of its operations in one file. */
export interface Operation<Actor = unknown> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Largest body in bytes; 64 KiB where nothing is said. */
  readonly bodyLimitBytes?: number;
  /**
   * Who asks, by the head alone: whoever is refused here has sent no body that was kept, and takes nobody's place.
   * Without it anybody may ask. Names the actor with {@link RequestHead.setActor}.
   */
  authenticate?(request: RequestHead): Promise<Actor>;
  /** Of an actor's requests with the same lane only the newest is kept; none where `undefined` is answered. */
  lane?(request: RequestHead): string | undefined;
  /** The answer's fields beside `result` and `msg`. Refusals are thrown as ProtocolError. */
  handle(request: OperationRequest, actor: Actor): Promise<JsonObject | RawAnswer>;
}
