import type { ServerResponse } from 'node:http';
import { type ErrorCode, errorCodes, ProtocolError, stringifyJson } from '@waxwing/protocol';

export interface ErrorAnswer {
  readonly httpStatus: number;
  readonly code: ErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The type of every answer in JSON. */
export const json = 'application/json; charset=utf-8';

const fastifyCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'BAD_REQUEST',
  FST_ERR_BAD_URL: 'BAD_REQUEST',
  FST_ERR_MAX_PARAM_LENGTH: 'BAD_REQUEST',
};

/** The refusal in whatever was thrown; anything that nobody meant to throw is INTERNAL_SERVER_ERROR, cause kept. */
export function toProtocolError(thrown: unknown): ProtocolError {
  if (thrown instanceof ProtocolError) return thrown;
  const { code: thrownCode, retryAfterSeconds } = thrown as { code?: unknown; retryAfterSeconds?: number };
  if (thrownCode === 'DATABASE_UNAVAILABLE' && retryAfterSeconds !== undefined) {
    return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds, cause: thrown });
  }
  const code = fastifyCodes[(thrown as { code?: string }).code ?? ''];
  return new ProtocolError(code ?? 'INTERNAL_SERVER_ERROR', { cause: thrown });
}

/** What is refused because too much is asked: it may be asked again in a second. */
export function unavailable(): ProtocolError {
  return new ProtocolError('SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
}

/** Answers a request that Fastify has not seen, or will not. */
export function refuseUnrouted(response: ServerResponse, error: ProtocolError): ErrorCode {
  const answer = errorAnswer(error);
  response.writeHead(answer.httpStatus, wholeHeaders(answer)).end(answer.body);
  return answer.code;
}

/** A function that answers the same each time, at as little cost as Node allows. */
export function refuseAlways(error: ProtocolError): (response: ServerResponse) => void {
  const answer = errorAnswer(error);
  const headers = Object.entries(wholeHeaders(answer)).flat();
  // Node sends a text in one piece with the head, and bytes in another one.
  return (response) => void response.writeHead(answer.httpStatus, headers).end(answer.body);
}

function wholeHeaders({ body, headers }: ErrorAnswer): Record<string, string> {
  return { ...headers, 'content-type': json, 'content-length': String(Buffer.byteLength(body)) };
}

/** The one place where an error becomes an answer. */
export function errorAnswer(error: ProtocolError): ErrorAnswer {
  const { code, httpStatus, fields, message, retryAfterSeconds } = error;
  const headers: Record<string, string> = {};
  if (retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(retryAfterSeconds));
  if (Array.isArray(fields.allowed_methods)) headers.allow = fields.allowed_methods.join(', ');
  if (httpStatus === 401) headers['www-authenticate'] = 'Basic realm="zulip"';
  const msg = httpStatus === 500 ? errorCodes.INTERNAL_SERVER_ERROR.message : message;
  return { httpStatus, code, headers, body: `${stringifyJson({ result: 'error', msg, code, ...fields })}\n` };
}
