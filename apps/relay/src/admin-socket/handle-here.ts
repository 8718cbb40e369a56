import { ProtocolError } from '@waxwing/protocol';
import type { Operation, RequestHead } from '@waxwing/service/http';
import type { z } from 'zod';
import type { AdminQuestion } from './ask-admin-socket.js';
import type { Operator } from './operator.js';

type Asked<Declared> = Omit<AdminQuestion, 'declared'> & { readonly declared: Declared };

/** There is no request: what an operation does for an operator follows from its parameters. */
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
 * Does what is asked in this process, where no relay runs; the answer's fields. @throws whatever the operation refuses
 * with.
 */
export async function handleHere<Context, Parameters extends z.ZodObject, Answer extends z.ZodObject>(
  context: Context,
  { declared, form, operatorName }: Asked<Operation<Context, Operator, Parameters, Answer>>,
): Promise<z.output<Answer>> {
  const answer = await declared.handle(context, {
    actor: { name: operatorName },
    parameters: declared.parameters.parse(form),
    head: noHead,
    // Nobody can go away from it but by ending the process.
    signal: AbortSignal.any([]),
    file: undefined,
  });
  return declared.answer.parse(answer);
}
