import { type ProtocolError, refused } from '@waxwing/protocol';

/** The generic error for a missing permission. */
export function insufficientPermission(): ProtocolError {
  return refused('Insufficient permission');
}
