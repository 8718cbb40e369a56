import { ProtocolError } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';

/**
 * Binds operations of operators to what they work with. A sentence that is meant for the person at the terminal reaches
 * them over HTTP too: as the message of a BAD_REQUEST. What is about settings or files says whose they are, as the command's
 * own may be others.
 */
export function bindAdminOperations<Context>(
  context: Context,
  operations: readonly AnyOperation<NoInfer<Context>>[],
): BoundOperation[] {
  return bindOperations(context, operations).map((bound) => ({
    ...bound,
    handle: async (request) => {
      try {
        return await bound.handle(request);
      } catch (error) {
        if (!(error instanceof CommandError || error instanceof ConfigurationError)) throw error;
        const message =
          error instanceof ConfigurationError ? `The relay that runs says: ${error.message}` : error.message;
        throw new ProtocolError('BAD_REQUEST', { message, cause: error });
      }
    },
  }));
}
