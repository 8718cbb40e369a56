import { ProtocolError } from '@waxwing/protocol';
import type { Operation, RequestHead } from '@waxwing/service/http';
import type { z } from 'zod';
import type { AdminQuestion } from './ask-admin-socket.js';
import type { Operator } from './operator.js';

type Asked<Declared> = Omit<AdminQuestion, 'declared'> & { readonly declared: Declared };

/** Stub for the missing HTTP request: an operator's operation depends on its parameters only. */
const noHead: RequestHead = {
  id: 'here',
  address: undefined,
  basicCredentials() {
    throw new ProtocolError('UNAUTHORIZED');
  },
  header: () => undefined,
  queryParameter: () => undefined,
  setActor: () => undefined,
};

/**
 * Runs an operation in this process, because no relay is running. Returns the answer's fields.
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
    // Never aborts: no client can disconnect, only the process can end.
    signal: AbortSignal.any([]),
    file: undefined,
    // Nothing else runs in this process.
    nextTick: async () => undefined,
  });
  return declared.answer.parse(answer);
}
