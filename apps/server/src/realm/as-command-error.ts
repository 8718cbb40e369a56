import { ProtocolError } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';

/** What a client would be refused with is told to people at the terminal too. @throws always. */
export function asCommandError(error: unknown): never {
  throw error instanceof ProtocolError ? new CommandError(`${error.message.replace(/\.$/, '')}.`) : error;
}
