import { type ErrorCode, errorCodes } from './error-codes.js';
import type { JsonObject } from './json.js';

/** Optional details of a {@link ProtocolError}. Each detail overrides or extends a column of {@link errorCodes}. */
export interface ProtocolErrorDetails {
  /** Overrides the table's message: one sentence that says what is wrong and where. */
  readonly message?: string;
  /** Extra fields of the error body, such as `var_name` or `queue_id`. */
  readonly fields?: JsonObject;
  /** Value of the `Retry-After` header, in whole seconds. */
  readonly retryAfterSeconds?: number;
  /**
   * Overrides the table's HTTP status, for peers that expect a different one (stock servers expect 503 instead of 429).
   */
  readonly httpStatus?: number;
  readonly cause?: unknown;
}

/** Error that refuses a request. A handler can throw it anywhere: the HTTP service turns it into an error response. */
export class ProtocolError extends Error {
  readonly code: ErrorCode;
  readonly httpStatus: number;
  readonly fields: JsonObject;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, details: ProtocolErrorDetails = {}) {
    super(details.message ?? errorCodes[code].message, { cause: details.cause });
    this.name = 'ProtocolError';
    this.code = code;
    this.httpStatus = details.httpStatus ?? errorCodes[code].httpStatus;
    this.fields = details.fields ?? {};
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** Creates a BAD_REQUEST error with a custom message: one sentence that says what is wrong and where. */
export function refused(message: string, fields: JsonObject = {}): ProtocolError {
  return new ProtocolError('BAD_REQUEST', { message, fields });
}

/** Creates a REQUEST_VARIABLE_MISSING error that names the missing argument. */
export function missingArgument(name: string): ProtocolError {
  const message = `Missing '${name}' argument`;
  return new ProtocolError('REQUEST_VARIABLE_MISSING', { message, fields: { var_name: name } });
}
