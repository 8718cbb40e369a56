import { readAnswerText } from '@waxwing/service/http';
import type { Dispatcher } from 'undici';
import type { VendorAnswer } from '../vendor-sender.js';

/** Longer bodies are not read to the end; their connection is closed. */
const maximumReadBytes = 16 * 1024;

/** Statuses that mean accepted: RFC 8030 defines 201 and 202, and some UnifiedPush servers answer 200 or 204. */
const accepted: ReadonlySet<number> = new Set([200, 201, 202, 204]);

/** Reasons by status, because push services have no standard reason texts. https://www.rfc-editor.org/rfc/rfc8030 */
const reasons: Readonly<Record<number, string>> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'SUBSCRIPTION_UNKNOWN',
  410: 'SUBSCRIPTION_GONE',
  413: 'BODY_TOO_LARGE',
  429: 'TOO_MANY_REQUESTS',
};

/** A push service's answer to one request. */
export interface WebPushAnswer {
  readonly answer: VendorAnswer;
  /** `false` if the body broke off or was too slow, which counts as a failure of the host. */
  readonly isComplete: boolean;
}

/**
 * Reads the answer of a push service to the end, so that its connection can be used again. The status alone decides: if
 * the body breaks off, a retry would resend a notification that the push service has already accepted.
 */
export async function readWebPushAnswer(response: Dispatcher.ResponseData): Promise<WebPushAnswer> {
  const isComplete = await readAnswerText(response.body, maximumReadBytes).then(
    () => true,
    () => false,
  );
  return { answer: answerOf(response), isComplete };
}

function answerOf({ statusCode, headers }: Dispatcher.ResponseData): VendorAnswer {
  if (accepted.has(statusCode)) return { kind: 'accepted' };
  const retryAfter = headers['retry-after'];
  return {
    kind: 'refused',
    httpStatus: statusCode,
    reason: reasonOf(statusCode),
    retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
  };
}

function reasonOf(statusCode: number): string {
  if (statusCode < 400) return 'UNEXPECTED_ANSWER';
  return reasons[statusCode] ?? (statusCode < 500 ? 'UNKNOWN' : 'SERVICE_UNAVAILABLE');
}
