import { type ProtocolError, refused } from '@waxwing/protocol';

/** For users who do not exist, and for those of whom the requester may not know. */
export function noSuchUser(): ProtocolError {
  return refused('No such user');
}
