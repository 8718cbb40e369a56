import { ProtocolError } from '@waxwing/protocol';
import type { RelayRetry } from './relay-answer.js';

/** Converts a failure of the relay to the error for the waiting phone (docs/protocol.md#error-codes). */
export function retryRefusal({ cause, retryAfterSeconds }: RelayRetry): ProtocolError {
  const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  if (cause === 'unreachable') return new ProtocolError('FAILED_TO_CONNECT_BOUNCER', details);
  if (cause === 'admin-must-act') return new ProtocolError('ADMIN_ACTION_REQUIRED', details);
  return new ProtocolError('INTERNAL_SERVER_ERROR_ON_BOUNCER', details);
}
