import { ProtocolError } from '@waxwing/protocol';

export function noSuchFile(): ProtocolError {
  return new ProtocolError('NOT_FOUND', { message: 'There is no such file' });
}
