import { ProtocolError } from '@waxwing/protocol';

/** For users who do not exist, and for those of whom the requester may not know. */
export function noSuchUser(): ProtocolError {
  return new ProtocolError('BAD_REQUEST', { message: 'No such user' });
}
