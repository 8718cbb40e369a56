import { type ErrorCode, errorCodes, type JsonObject } from '@waxwing/protocol';
import {
  type AnyOperation,
  type BoundOperation,
  bindOperations,
  type OperationRequest,
  type RequestHead,
  type SpecialAnswer,
} from '@waxwing/service/http';
import { z } from 'zod';

export interface TestOperation
  extends Partial<Pick<AnyOperation, 'aliases' | 'body' | 'bodyLimitBytes' | 'lane' | 'parameters'>> {
  readonly method: AnyOperation['method'];
  readonly path: string;
  authenticate?(head: RequestHead): Promise<unknown>;
  handle(
    request: OperationRequest<Record<string, unknown>, unknown>,
  ): Promise<JsonObject | SpecialAnswer> | Promise<never>;
}

/** An operation for tests of the HTTP service. Its declaration allows any response. */
export function testOperation({ authenticate, handle, ...declared }: TestOperation): BoundOperation {
  const whole: AnyOperation<unknown> = {
    summary: 'For tests.',
    parameters: z.object({}),
    answer: z.looseObject({}),
    codes: Object.keys(errorCodes) as ErrorCode[],
    ...declared,
    actor: {
      name: authenticate ? 'user' : 'anybody',
      description: '',
      codes: [],
      ...(authenticate && { authenticate: (_context: unknown, head: RequestHead) => authenticate(head) }),
    },
    handle: (_context, request) => handle(request) as Promise<JsonObject>,
  };
  const [bound] = bindOperations<unknown>({}, [whole]);
  if (bound === undefined) throw new Error('nothing was bound');
  return bound;
}
