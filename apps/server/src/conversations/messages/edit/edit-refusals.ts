import { type ProtocolError, refused } from '@waxwing/protocol';

export function mayNotEdit(): ProtocolError {
  return refused("You don't have permission to edit this message");
}
