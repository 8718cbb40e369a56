import { errorCodes, isErrorCode, type JsonObject, type Remedy } from '@waxwing/protocol/phone';
import type { UnreachableCause } from './unreachable-cause.js';

/** What an error answer of the server says. */
export interface ApiErrorDetails {
  /** One of the protocol's codes or any other that the server sent; `UNKNOWN` when it sent none. */
  readonly code: string;
  readonly message: string;
  readonly httpStatus: number;
  /** How long the server asks to wait before the next try. */
  readonly retryAfterSeconds: number | undefined;
  /** The whole answer, with the extra fields of some codes (such as `queue_id`). */
  readonly fields: JsonObject;
}

/** The server understood the request and refused it. */
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
    this.fields = fields;
  }

  /** What can be done about it: by the code where it is known, else by the HTTP status. */
  get remedy(): Remedy {
    if (isErrorCode(this.code)) return errorCodes[this.code].remedy;
    if (this.httpStatus === 429 || this.httpStatus >= 500) return 'retry-later';
    return this.httpStatus === 401 || this.httpStatus === 403 ? 'ask-admin' : 'fix-request';
  }
}

/** No answer that can be understood: no network, a time-out, a proxy's error page, or an answer that is too long. */
export class UnreachableError extends Error {
  /** Why there was none. */
  readonly reason: UnreachableCause;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    details: {
      readonly reason?: UnreachableCause;
      readonly retryAfterSeconds?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'UnreachableError';
    this.reason = details.reason ?? 'foreign-answer';
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
