import { ProtocolError } from '@waxwing/protocol';
import { CommandError } from '@waxwing/service/command-line';
import { ConfigurationError } from '@waxwing/service/config';
import { type AnyOperation, type BoundOperation, bindOperations } from '@waxwing/service/http';

/**
 * Binds the admin operations to their context. Maps `CommandError` and `ConfigurationError` to BAD_REQUEST with the
 * same message, so the operator sees it. A `ConfigurationError` message gets a prefix that names the running relay,
 * because the command's own settings and files may differ.
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
          error instanceof ConfigurationError ? `The running relay says: ${error.message}` : error.message;
        throw new ProtocolError('BAD_REQUEST', { message, cause: error });
      }
    },
  }));
}
