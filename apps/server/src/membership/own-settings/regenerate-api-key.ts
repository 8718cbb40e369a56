import { noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockOwnDetails } from '../../people/users/user-details.js';
import { human } from '../../platform/authentication/authenticate.js';
import { replaceApiKey } from '../user-administration/end-access.js';

/**
 * `POST /api/v1/users/me/api_key/regenerate`: replaces all API keys of the requester with a new key, and returns it.
 * In the same transaction, removes the requester's phones, enqueues jobs that delete them at the relay, ends all
 * event queues of the requester, and revokes their invitations. The response contains the number of revoked
 * invitations. Every client must register a new queue with the new key. Errors: BAD_REQUEST for bots.
 */
export const regenerateApiKey = operation({
  method: 'POST',
  path: '/api/v1/users/me/api_key/regenerate',
  summary: "Replaces the requester's API keys with a new one and removes their phones.",
  actor: human,
  parameters: noParameters,
  answer: z.object({ api_key: z.string(), revoked_invitations: z.number().int() }),
  codes: [],
  async handle(context: ServerContext, { actor }) {
    const { apiKey, revokedInvitations } = await actor.change(
      (transaction) => replaceApiKey(context, transaction, actor.id),
      // Takes the exclusive row lock before the requester's shared lock: upgrading two shared locks would deadlock.
      async (transaction) => {
        await lockOwnDetails(transaction, actor);
      },
      { isBatchFirst: false },
    );
    return { api_key: apiKey.reveal(), revoked_invitations: revokedInvitations };
  },
});
