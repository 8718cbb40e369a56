import { type ProtocolError, refused } from '@waxwing/protocol';

/** Creates the generic error for a missing permission. */
export function insufficientPermission(): ProtocolError {
  return refused('Insufficient permission');
}
