import { ProtocolError } from '@waxwing/protocol';
import type { RequestHead } from '@waxwing/service/http';
import type { PushActor, ServerPushOptions } from './server-push-options.js';

/** The user who asks. @throws ProtocolError as `authenticate` does, and BAD_REQUEST for a bot. */
export async function requirePerson(
  authenticate: ServerPushOptions['authenticate'],
  head: RequestHead,
): Promise<PushActor> {
  const actor = await authenticate(head);
  if (actor.isBot) {
    throw new ProtocolError('BAD_REQUEST', { message: 'This endpoint does not accept bot requests.' });
  }
  return actor;
}
