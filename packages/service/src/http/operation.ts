import type { JsonObject, JsonValue } from '@waxwing/protocol';
import type { z } from 'zod';
import type { BasicCredentials } from './basic-credentials.js';

/** What an operation may know of a request. */
export interface OperationRequest {
  readonly id: string;
  /** The `Authorization` header's credentials. @throws ProtocolError UNAUTHORIZED when there are none. */
  basicCredentials(): BasicCredentials;
  /**
   * The parameters that `schema` names, from the form, the multipart form or the query string.
   * @throws ProtocolError REQUEST_VARIABLE_MISSING or BAD_REQUEST, for the first parameter that is wrong.
   */
  parameters<S extends z.ZodObject>(schema: S): z.infer<S>;
  /** The JSON body, integers never rounded. @throws ProtocolError UNSUPPORTED_MEDIA_TYPE for any other body. */
  jsonBody(): JsonValue;
  /** A request header as text; `undefined` when absent. */
  header(name: string): string | undefined;
  /** Names the requester in the log line: an id, never an e-mail address. */
  setActor(actor: string): void;
  /** Aborted when the requester has gone away or the service is closing. */
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
export interface Operation {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** Largest body in bytes; 64 KiB where nothing is said. */
  readonly bodyLimitBytes?: number;
  /** The answer's fields beside `result` and `msg`. Refusals are thrown as ProtocolError. */
  handle(request: OperationRequest): Promise<JsonObject | RawAnswer>;
}
