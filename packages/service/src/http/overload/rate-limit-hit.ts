import { errorCodes, ProtocolError } from '@waxwing/protocol';

/**
 * The refusal of what a user asked for too soon (chat API, rate limits); `next` names what is allowed in so many seconds.
 */
export function rateLimitHit(next: string, seconds: number): ProtocolError {
  return new ProtocolError('RATE_LIMIT_HIT', {
    message: `${errorCodes.RATE_LIMIT_HIT.message}: the next ${next} is allowed in ${seconds} s`,
    fields: { 'retry-after': seconds },
    retryAfterSeconds: seconds,
  });
}
