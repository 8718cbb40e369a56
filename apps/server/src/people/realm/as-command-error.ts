import { ProtocolError } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';

/** Rethrows a protocol error as a command-line error. @throws always. */
export function asCommandError(error: unknown): never {
  throw error instanceof ProtocolError ? new CommandError(`${error.message.replace(/\.$/, '')}.`) : error;
}
