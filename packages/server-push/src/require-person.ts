import { ProtocolError } from '@waxwing/protocol';
import type { OperationRequest } from '@waxwing/service';
import type { ServerPushOptions } from './server-push-options.js';

/** The id of the user who asks. @throws ProtocolError as `authenticate` does, and BAD_REQUEST for a bot. */
export async function requirePerson(
  authenticate: ServerPushOptions['authenticate'],
  request: OperationRequest,
): Promise<number> {
  const { userId, isBot } = await authenticate(request);
  if (isBot) {
    throw new ProtocolError('BAD_REQUEST', { message: 'This endpoint does not accept bot requests.' });
  }
  return userId;
}
