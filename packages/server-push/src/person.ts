import { refused } from '@waxwing/protocol';
import type { ActorKind } from '@waxwing/service/http';
import type { PushActor, ServerPushOptions } from './server-push-options.js';

/** Actor kind that accepts only human users, because bots have no phones. */
export const person: ActorKind<Pick<ServerPushOptions, 'authenticate'>, PushActor> = {
  name: 'person',
  description: "A person's e-mail address and API key; bots are refused.",
  codes: ['BAD_REQUEST', 'INVALID_API_KEY', 'UNAUTHORIZED'],
  async authenticate({ authenticate }, head) {
    const actor = await authenticate(head);
    if (actor.isBot) {
      throw refused('This endpoint does not accept bot requests.');
    }
    return actor;
  },
};
