import { ProtocolError } from '@waxwing/protocol';

/** Why somebody may not edit a message, in one sentence. */
export function refusedEdit(message: string, fields?: Record<string, string>): ProtocolError {
  return new ProtocolError('BAD_REQUEST', { message, ...(fields && { fields }) });
}

export function mayNotEdit(): ProtocolError {
  return refusedEdit("You don't have permission to edit this message");
}
