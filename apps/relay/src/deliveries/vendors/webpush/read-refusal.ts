import { readAnswerText } from '@waxwing/service/http';
import type { Dispatcher } from 'undici';
import type { VendorAnswer } from '../vendor-sender.js';

/** Maximum size of a body that is read to the end. A longer body closes the connection. */
const maximumReadBytes = 16 * 1024;

/** Statuses that mean accepted. RFC 8030 defines 201 and 202; some UnifiedPush servers respond with 200 or 204. */
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

/** A push service's response to one request. */
export interface WebPushAnswer {
  readonly answer: VendorAnswer;
  /** Whether the body arrived completely and in time. If not, the response counts as a failure of the host. */
  readonly isComplete: boolean;
}

/**
 * Reads a push service's response to the end, so that the connection can be reused. The status alone decides: if the
 * body breaks off after an accepting status, a retry would send a duplicate.
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
