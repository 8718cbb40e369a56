import { type ProtocolError, refused } from '@waxwing/protocol';

/** For what somebody may not do, where nothing more is to be said. */
export function insufficientPermission(): ProtocolError {
  return refused('Insufficient permission');
}
