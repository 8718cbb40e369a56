import { errorCodes, isErrorCode, type JsonObject, type Remedy } from '@waxwing/protocol/phone';
import { jsonSafe } from '../json-safe.js';
import type { UnreachableCause } from './unreachable-cause.js';

/** Contents of an error response from the server. */
export interface ApiErrorDetails {
  /**
   * The error code from the server, usually one of docs/protocol.md#error-codes; `UNKNOWN` if the server sent no code.
   */
  readonly code: string;
  readonly message: string;
  readonly httpStatus: number;
  /** From `Retry-After`, in seconds; `undefined` if absent. */
  readonly retryAfterSeconds: number | undefined;
  /** The whole response, including the extra fields that some codes have (such as `queue_id`). */
  readonly fields: JsonObject;
}

/** Thrown if the server understood a request and refused it. */
export class ApiError extends Error {
  readonly code: string;
  readonly httpStatus: number;
  readonly retryAfterSeconds: number | undefined;
  readonly fields: JsonObject;

  constructor({ code, message, httpStatus, retryAfterSeconds, fields }: ApiErrorDetails) {
    super(message);
    this.name = 'ApiError';
    this.code = code;
    this.httpStatus = httpStatus;
    this.retryAfterSeconds = retryAfterSeconds;
    this.fields = jsonSafe({ ...fields });
  }

  /** The remedy for the error, derived from the code or, for an unknown code, from the HTTP status. */
  get remedy(): Remedy {
    if (isErrorCode(this.code)) return errorCodes[this.code].remedy;
    if (this.httpStatus === 429 || this.httpStatus >= 500) return 'retry-later';
    return this.httpStatus === 401 || this.httpStatus === 403 ? 'ask-admin' : 'fix-request';
  }
}

/** Thrown if a request got no usable response: no network, a timeout, a proxy's error page, or too long a response. */
export class UnreachableError extends Error {
  /** Why there was no usable response. */
  readonly reason: UnreachableCause;
  readonly retryAfterSeconds: number | undefined;
  /** HTTP status of the unusable response; `undefined` if there was no response. */
  readonly httpStatus: number | undefined;

  constructor(
    message: string,
    details: {
      readonly reason?: UnreachableCause;
      readonly retryAfterSeconds?: number | undefined;
      readonly httpStatus?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'UnreachableError';
    this.reason = details.reason ?? 'foreign-answer';
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.httpStatus = details.httpStatus;
  }
}
