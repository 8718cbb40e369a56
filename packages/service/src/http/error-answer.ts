import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorCodes, ProtocolError, stringifyJson } from '@waxwing/protocol';

export interface ErrorAnswer {
  readonly httpStatus: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const maximumReasonCharacters = 200;

/** Content type of JSON responses. */
export const json = 'application/json; charset=utf-8';

/** Maps Fastify's error codes to protocol codes, with a message where the code's default message gives no remedy. */
const fastifyCodes: Readonly<Record<string, readonly [ErrorCode, string?]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['PAYLOAD_TOO_LARGE'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['UNSUPPORTED_MEDIA_TYPE'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['BAD_REQUEST', 'The body does not have the length in Content-Length'],
  FST_ERR_BAD_URL: ['BAD_REQUEST', 'Invalid path: must be UTF-8'],
  FST_ERR_MAX_PARAM_LENGTH: ['BAD_REQUEST', 'Invalid path: a part of it is too long'],
};

/**
 * Converts any thrown value to a ProtocolError. An unexpected error becomes INTERNAL_SERVER_ERROR, with the error as
 * its cause.
 */
export function toProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code: thrownCode, retryAfterSeconds } = thrown as { code?: unknown; retryAfterSeconds?: number };
  if (thrownCode === 'DATABASE_UNAVAILABLE' && retryAfterSeconds !== undefined) {
    return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds, cause: thrown });
  }
  const [code, message] = fastifyCodes[String(thrownCode)] ?? ['INTERNAL_SERVER_ERROR'];
  return new ProtocolError(code, { ...(message === undefined ? {} : { message }), cause: thrown });
}

/**
 * Returns the error for requests that are refused under overload: SERVICE_UNAVAILABLE with `Retry-After: 1`. `reason`
 * appears only in the log.
 */
export function unavailable(reason: string): ProtocolError {
  return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1, cause: reason });
}

/**
 * Returns the reason to log for refusing a valid request: the limit that was hit, or the resource that was unavailable.
 */
export function refusalReason({ httpStatus, cause, message }: ProtocolError): string | undefined {
  if (typeof cause === 'string') return cause;
  if (httpStatus !== 503 && httpStatus !== 429) return undefined;
  return (cause instanceof Error ? cause.message : message).slice(0, maximumReasonCharacters);
}

/** Sends an error response outside Fastify. */
export function refuseUnrouted(response: ServerResponse, error: ProtocolError): ErrorCode {
  const answer = errorAnswer(error);
  response.writeHead(answer.httpStatus, wholeHeaders(answer)).end(answer.body);
  return answer.code;
}

/**
 * Returns a function that sends the same error each time. The error is serialized only once, because refusals must be
 * cheap for load shedding.
 */
export function refuseAlways(error: ProtocolError): (response: ServerResponse) => void {
  const answer = errorAnswer(error);
  const headers = Object.entries(wholeHeaders(answer)).flat();
  // A string body is sent in the same packet as the head. A buffer would take a second packet.
  return (response) => void response.writeHead(answer.httpStatus, headers).end(answer.body);
}

/** Adds `content-type` and `content-length` to an error's headers, for responses sent outside Fastify. */
export function wholeHeaders({ body, headers }: ErrorAnswer): Record<string, string> {
  return { ...headers, 'content-type': json, 'content-length': String(Buffer.byteLength(body)) };
}

/** Serializes an error. All error responses are created here. A 500 has a generic message, which hides the cause. */
export function errorAnswer(error: ProtocolError): ErrorAnswer {
  const { code, httpStatus, fields, message, retryAfterSeconds } = error;
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterSeconds));
  if (Array.isArray(fields.allowed_methods)) headers.allow = fields.allowed_methods.join(', ');
  // If an ADMIN_ error had this header, browsers would show their own password prompt over the dashboard, which already
  // asks for a token.
  if (httpStatus === 401 && !code.startsWith('ADMIN_')) headers['www-authenticate'] = 'Basic realm="zulip"';
  const msg = httpStatus === 500 ? errorCodes.INTERNAL_SERVER_ERROR.message : message;
  return { httpStatus, code, headers, body: `${stringifyJson({ result: 'error', msg, code, ...fields })}\n` };
}
