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

/** Why to retry: no answer, an error of the relay, overload, or a fault that an admin must fix. */
type RetryCause = 'unreachable' | 'relay-error' | 'busy' | 'admin-must-act';

export interface RelayRefusal {
  readonly kind: 'refused-for-good';
  /** The relay's error code; `BAD_REQUEST` if it gave none. */
  readonly code: string;
  readonly message: string;
}

export interface RelayRetry {
  readonly kind: 'retry';
  /** The relay's error code, if a refusal is retried. */
  readonly code?: string;
  readonly cause: RetryCause;
  /** One sentence for the admin; identical for identical faults. */
  readonly reason: string;
  /** From the relay's `Retry-After`; `undefined` if absent. */
  readonly retryAfterSeconds: number | undefined;
  /** Status of the answer, or of one result in a batch; `undefined` if there was no answer. */
  readonly httpStatus: number | undefined;
}

/** Outcome of a request to the relay. */
export type RelayOutcome<Answer> =
  | { readonly kind: 'accepted'; readonly answer: Answer }
  | RelayRefusal
  | RelayRetry;

/** A received HTTP answer; `body` is `undefined` if it was longer than the read limit. */
export interface ReceivedAnswer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: string | undefined;
}

// Relays answer these with various 4xx statuses. Only the admin of this server or of the relay can fix them.
const adminCodes: ReadonlySet<string> = new Set([
  'MISSING_REMOTE_REALM',
  'REMOTE_REALM_SERVER_MISMATCH_ERROR',
  'INVALID_ZULIP_SERVER',
  'PUSH_NOTIFICATIONS_DISALLOWED',
]);
const maximumMessageCharacters = 300;

/**
 * Interprets the relay's answer (docs/protocol.md#reading-the-relays-answers). 200 is success. A 4xx with an error
 * body is final, except 401, 403, 429 and the codes above. Everything else is retried.
 */
export function interpretAnswer<Schema extends z.ZodType>(
  received: ReceivedAnswer,
  schema: Schema,
  now: number,
): RelayOutcome<z.infer<Schema>> {
  const { status } = received;
  const body = received.body === undefined ? undefined : parseJsonOrUndefined(received.body);
  const retryAfter = readRetryAfter(received.retryAfter, now);
  const retry = (cause: RetryCause, reason: string): RelayRetry => ({
    kind: 'retry',
    cause,
    reason: `the relay ${reason}`,
    retryAfterSeconds: retryAfter === undefined ? undefined : Math.ceil(retryAfter / 1000),
    httpStatus: status,
  });
  if (status === 200) {
    const parsed = isSuccess(body) ? schema.safeParse(body) : undefined;
    if (parsed?.success) return { kind: 'accepted', answer: parsed.data };
    return retry('admin-must-act', 'answered 200 with a body that is not that of a relay');
  }
  if (status >= 500) return retry('relay-error', `answered ${status}`);
  if (status === 429) return retry('busy', 'answered 429: it limits how often this server may ask');
  const error = readError(body);
  const said = error?.message ? `: ${error.message}` : '';
  if (status === 401 || status === 403) return retry('admin-must-act', `answered ${status}${said}`);
  if (status >= 400 && error !== undefined) {
    if (adminCodes.has(error.code)) {
      return { ...retry('admin-must-act', `answered ${status}${said}`), code: error.code };
    }
    return { kind: 'refused-for-good', ...error };
  }
  const hint = status >= 300 && status < 400 ? ', a redirection, which is not followed' : '';
  return retry('admin-must-act', `answered ${status}${hint}; is its address right?`);
}

/** Interprets the refusal of one registration of a batch as if it were the answer to a single registration. */
export function interpretRefusal(result: RefusedRegistration): RelayOutcome<never> {
  const status = isErrorCode(result.code) ? errorCodes[result.code].httpStatus : 400;
  return interpretAnswer({ status, retryAfter: undefined, body: JSON.stringify(result) }, z.never(), 0);
}

/**
 * Reports an unknown operation as a fault: every relay knows the operations that servers need, so the address must be
 * wrong.
 */
export function asRelayError<Answer>(outcome: RelayOutcome<Answer>): RelayOutcome<Answer> {
  if (outcome.kind !== 'refused-for-good' || outcome.code !== 'NOT_FOUND') return outcome;
  const reason = 'the relay answered that it does not know the request; is its address right?';
  return { kind: 'retry', cause: 'admin-must-act', reason, retryAfterSeconds: undefined, httpStatus: 404 };
}

function isSuccess(body: JsonValue | undefined): boolean {
  return isJsonObject(body) && body.result === 'success';
}

function readError(body: JsonValue | undefined): { code: string; message: string } | undefined {
  if (!isJsonObject(body)) return undefined;
  const { code, msg } = body;
  const isCode = typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,99}$/.test(code);
  const message = typeof msg === 'string' ? printable(msg) : '';
  return { code: isCode ? code : 'BAD_REQUEST', message };
}

/** Shortens what a relay says, and removes what could forge lines of a log or a terminal. */
export function printable(text: string): string {
  return text.slice(0, maximumMessageCharacters).replace(/[\p{Control}\p{Surrogate}]/gu, ' ');
}
