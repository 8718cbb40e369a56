import { ProtocolError } from '@waxwing/protocol';
import type { Operation, RequestHead } from '@waxwing/service/http';
import type { z } from 'zod';
import type { AdminQuestion } from './ask-admin-socket.js';
import type { Operator } from './operator.js';

type Asked<Declared> = Omit<AdminQuestion, 'declared'> & { readonly declared: Declared };

/** Placeholder for the head of an HTTP request. Admin operations depend only on their parameters. */
const noHead: RequestHead = {
  id: 'here',
  address: undefined,
  nearestAddress: undefined,
  basicCredentials() {
    throw new ProtocolError('UNAUTHORIZED');
  },
  header: () => undefined,
  queryParameter: () => undefined,
  setActor: () => undefined,
};

/**
 * Runs an admin operation in this process, without the admin socket: for a command if no relay is running, or for the
 * dashboard. Returns the operation's result.
 * @throws the operation's own errors.
 */
export async function handleHere<Context, Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  context: Context,
  { declared, form, operatorName }: Asked<Operation<Context, Operator, Parameters, Answer>>,
): Promise<z.output<Answer>> {
  const answer = await declared.handle(context, {
    actor: { name: operatorName },
    parameters: declared.parameters.parse(form),
    head: noHead,
    // Never aborts: the call has no connection of its own.
    signal: AbortSignal.any([]),
    requireClient: () => undefined,
    file: undefined,
    // Admin operations are short, so they need not yield to other requests.
    nextTick: async () => undefined,
    runPiece: (work) => work(),
  });
  return declared.answer.parse(answer);
}
