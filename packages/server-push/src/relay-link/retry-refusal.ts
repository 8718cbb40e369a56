import { ProtocolError } from '@waxwing/protocol';
import type { RelayRetry } from './relay-answer.js';

/** What a phone is told that waits for the relay's answer (push registration protocol, test notification). */
export function retryRefusal({ cause, retryAfterSeconds }: RelayRetry): ProtocolError {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (cause === 'unreachable') return new ProtocolError('FAILED_TO_CONNECT_BOUNCER', details);
  if (cause === 'admin-must-act') return new ProtocolError('ADMIN_ACTION_REQUIRED', details);
  return new ProtocolError('INTERNAL_SERVER_ERROR_ON_BOUNCER', details);
}
