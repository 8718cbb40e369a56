import {
  errorCodes,
  isErrorCode,
  isJsonObject,
  type JsonValue,
  parseJsonOrUndefined,
} from '@waxwing/protocol';
import { readRetryAfter } from '@waxwing/service/http';
import { z } from 'zod';
import type { RefusedRegistration } from './registration-format.js';
import { type RetryCause, relayCodeOf, relayCodes } from './relay-codes.js';

export interface RelayRefusal {
  readonly kind: 'refused-for-good';
  /** The relay's error code; `BAD_REQUEST` if the response had none. */
  readonly code: string;
  readonly message: string;
  /** One sentence for the admin, if only an admin can fix the problem. */
  readonly trouble?: string;
}

export interface RelayRetry {
  readonly kind: 'retry';
  /** The relay's error code, if this is a refusal that may be retried. */
  readonly code?: string;
  readonly cause: RetryCause;
  /** One sentence for the admin. It is identical for identical faults. */
  readonly reason: string;
  /** From the relay's `Retry-After`; `undefined` if absent. */
  readonly retryAfterSeconds: number | undefined;
  /** HTTP status of the response, or of one result in a batch; `undefined` if there was no response. */
  readonly httpStatus: number | undefined;
}

/** Outcome of a request to the relay. */
export type RelayOutcome<Answer> =
  | { readonly kind: 'accepted'; readonly answer: Answer }
  | RelayRefusal
  | RelayRetry;

/** A received HTTP response. `body` is `undefined` if the body was longer than the read limit. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string | undefined;
}

const maximumMessageCharacters = 300;

/**
 * Interprets the relay's response (docs/protocol.md#reading-the-relays-answers). Status 200 is success. Two kinds of
 * refusal are final: a code that `relayCodes` marks as final, with one of its statuses, and an unknown code with status
 * 400. Everything else is retried, because a proxy or another service at the relay's address must not make a
 * registration fail permanently.
 */
export function interpretAnswer<Schema extends z.ZodType>(
  received: ReceivedAnswer,
  schema: Schema,
  now: number,
): RelayOutcome<z.infer<Schema>> {
  const { status } = received;
  const body = received.body === undefined ? undefined : parseJsonOrUndefined(received.body);
  if (status === 200) {
    const parsed = isSuccess(body) ? schema.safeParse(body) : undefined;
    if (parsed?.success) return { kind: 'accepted', answer: parsed.data };
  }
  const error = readError(body);
  return (error && finalRefusal(status, error)) ?? retry(received, now, error);
}

/** Error code of an operation that the relay does not know. */
export const unknownRequest = 'NOT_FOUND';

/** The outcome of an operation that the relay does not know. */
export const notKnown: RelayRefusal = {
  kind: 'refused-for-good',
  code: unknownRequest,
  message: 'the relay does not know the request',
};

/**
 * Whether the response reports, in the protocol's format, that the relay does not know the operation. A 404 from a
 * proxy or from another service at the relay's address does not have this format.
 */
export function isUnknownOperation({ status, body }: ReceivedAnswer): boolean {
  if (status !== 404 && status !== 405) return false;
  return body !== undefined && readError(parseJsonOrUndefined(body)) !== undefined;
}

interface RelayError {
  readonly code: string;
  readonly message: string;
}

function finalRefusal(status: number, { code, message }: RelayError): RelayRefusal | undefined {
  const row = relayCodeOf(code, status);
  const isUnknown = status === 400 && !Object.hasOwn(relayCodes, code);
  if (row?.taken !== 'final' && !isUnknown) return undefined;
  const refusal = { kind: 'refused-for-good', code, message } as const;
  const isAdmins = row !== undefined && row.check !== 'devices';
  return isAdmins ? { ...refusal, trouble: `the relay answered ${status}: ${message}` } : refusal;
}

function retry(
  { status, retryAfter: header }: ReceivedAnswer,
  now: number,
  error: RelayError | undefined,
): RelayRetry {
  const retryAfter = readRetryAfter(header, now);
  const row = relayCodeOf(error?.code, status);
  const [cause, reason] = whyToRetry(status, error?.message);
  return {
    kind: 'retry',
    ...(row && error && { code: error.code }),
    cause,
    reason: `the relay ${reason}`,
    retryAfterSeconds: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000),
    httpStatus: status,
  };
}

/** Explains why the request is retried. `said` is the error message of a response in the protocol's format. */
function whyToRetry(status: number, said: string | undefined): [RetryCause, string] {
  if (status === 200) return ['admin-must-act', 'answered 200 with a body that does not come from a relay'];
  if (status >= 500) return ['relay-error', `answered ${status}`];
  if (status === 429) return ['busy', 'answered 429: it limits the request rate of this server'];
  if (status === 404 || status === 405) {
    return ['admin-must-act', `answered ${status}: it does not know the request; is its address correct?`];
  }
  if (said) return ['admin-must-act', `answered ${status}: ${said}`];
  if (status === 401 || status === 403) return ['admin-must-act', `answered ${status}`];
  const hint = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return ['admin-must-act', `answered ${status}${hint}; is its address correct?`];
}

/** Interprets the refusal of one registration in a batch, in the same way as the response to a single registration. */
export function interpretRefusal(result: RefusedRegistration): RelayOutcome<never> {
  const status = isErrorCode(result.code) ? errorCodes[result.code].httpStatus : 400;
  return interpretAnswer({ status, retryAfter: undefined, body: JSON.stringify(result) }, z.never(), 0);
}

function isSuccess(body: JsonValue | undefined): boolean {
  return isJsonObject(body) && body.result === 'success';
}

/** Reads an error in the protocol's format. Returns `undefined` for any other body. */
function readError(body: JsonValue | undefined): RelayError | undefined {
  if (!isJsonObject(body) || body.result !== 'error' || typeof body.msg !== 'string') return undefined;
  const { code, msg } = body;
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,99}$/.test(code);
  return { code: isCode ? code : 'BAD_REQUEST', message: printable(msg) };
}

/** Shortens a string from a relay, and replaces characters that could forge log lines or control a terminal. */
export function printable(text: string): string {
  return text.slice(0, maximumMessageCharacters).replace(/[\p{Control}\p{Surrogate}]/gu, ' ');
}
