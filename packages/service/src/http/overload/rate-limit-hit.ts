import { errorCodes, ProtocolError } from '@waxwing/protocol';

/**
 * Returns a RATE_LIMIT_HIT error that says when to retry. `next` is the name of the limited action, such as `sign-in`,
 * which also appears in the log.
 */
export function rateLimitHit(next: string, seconds: number): ProtocolError {
  return new ProtocolError('RATE_LIMIT_HIT', {
    message: `${errorCodes.RATE_LIMIT_HIT.message}: the next ${next} is allowed in ${seconds} s`,
    fields: { 'retry-after': seconds },
    retryAfterSeconds: seconds,
    cause: next,
  });
}
