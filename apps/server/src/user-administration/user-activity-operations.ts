import { ProtocolError } from '@waxwing/protocol';
import { noAnswer, noParameters, operation } from '@waxwing/service/http';
import { z } from 'zod';
import { human, type Requester, user } from '../authentication/authenticate.js';
import type { ServerContext } from '../context.js';
import { holdGroups } from '../permissions/hold-groups.js';
import { roles } from '../permissions/roles.js';
import type { ServerTransaction } from '../tables.js';
import { type Both, lockBoth } from '../users/lock-both.js';
import { noSuchUser } from '../users/no-such-user.js';
import { lockDetails, type UserDetails } from '../users/user-details.js';
import { readUserName, userNameParameter } from '../users/user-parameters.js';
import { deactivate } from './deactivate.js';
import { reactivate } from './reactivate.js';

const named = z.object({ user_id_or_email: userNameParameter });

/**
 * `DELETE /api/v1/users/{user_id}` and `DELETE /api/v1/users/{email}`: an administrator deactivates a user or bot, and the
 * bots that belong to it. Their keys, event queues, push devices and invitations end; what they wrote stays. Refuses with
 * BAD_REQUEST whoever is no administrator, unknown and inactive users, and the only owner; with UNAUTHORIZED_PRINCIPAL an
 * owner, for anybody but owners.
 */
export const deactivateUser = operation({
  method: 'DELETE',
  path: '/api/v1/users/{user_id_or_email}',
  summary: 'Deactivates a user or bot, and the bots that belong to them.',
  actor: user,
  parameters: named,
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle(context: ServerContext, { actor, parameters }) {
    return changeOther(context, actor, parameters, deactivate);
  },
});

/**
 * `DELETE /api/v1/users/me`: whoever asks is deactivated, with its bots. Refuses with BAD_REQUEST bots, and the only owner.
 */
export const deactivateOwnUser = operation({
  method: 'DELETE',
  path: '/api/v1/users/me',
  summary: 'Deactivates whoever asks, and the bots that belong to them.',
  actor: human,
  parameters: noParameters,
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor }) {
    const self = { kind: 'id', id: actor.id } as const;
    await actor.change(
      async (transaction, held) => {
        const target = await lockDetails(transaction, self, held);
        if (target === undefined) throw noSuchUser();
        await deactivate(context, transaction, target);
      },
      // Whoever only holds a user could not change it beside another who holds it.
      async (transaction) => {
        await holdGroups(transaction);
        await lockDetails(transaction, self, actor);
      },
    );
    return {};
  },
});

/**
 * `POST /api/v1/users/{user_id}/reactivate`: an administrator makes an inactive user or bot active again, in the channels
 * and groups where it was. Refuses with BAD_REQUEST whoever is no administrator, unknown and active users, those whose
 * address or name is another's now, and a bot whose owner is inactive; with UNAUTHORIZED_PRINCIPAL an owner, for anybody
 * but owners.
 */
export const reactivateUser = operation({
  method: 'POST',
  path: '/api/v1/users/{user_id_or_email}/reactivate',
  summary: 'Makes an inactive user or bot active again.',
  actor: user,
  parameters: named,
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle(context: ServerContext, { actor, parameters }) {
    return changeOther(context, actor, parameters, reactivate);
  },
});

type ActivityChange = (
  context: ServerContext,
  transaction: ServerTransaction,
  target: UserDetails,
) => Promise<unknown>;

/** Has an administrator change whether a user or bot is active. */
async function changeOther(
  context: ServerContext,
  actor: Requester,
  parameters: z.output<typeof named>,
  change: ActivityChange,
): Promise<Record<string, never>> {
  const name = readUserName(parameters.user_id_or_email, context.realm);
  await actor.change(async (transaction, held) => {
    const both = await lockBoth(transaction, held, name);
    requireOwnerForOwner(both);
    await change(context, transaction, both.target);
  }, holdGroups);
  return {};
}

function requireOwnerForOwner({ administrator, target }: Both): void {
  if (target.role !== roles.owner || administrator.role === roles.owner) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization owner' });
}
