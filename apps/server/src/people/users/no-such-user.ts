import { type ProtocolError, refused } from '@waxwing/protocol';

/** Returns the error for a user that does not exist or that the requester cannot see. */
export function noSuchUser(): ProtocolError {
  return refused('No such user');
}
