import { ProtocolError } from '@waxwing/protocol';
import { noAnswer, noParameters, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { lockGroups } from '../../people/permissions/lock-groups.js';
import { type Both, lockBoth } from '../../people/users/lock-both.js';
import { noSuchUser } from '../../people/users/no-such-user.js';
import { lockDetails, type UserDetails } from '../../people/users/user-details.js';
import { readUserName, userNameParameter } from '../../people/users/user-parameters.js';
import { human, type Requester, user } from '../../platform/authentication/authenticate.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTransaction } from '../../tables.js';
import { deactivate } from './deactivate.js';
import { reactivate } from './reactivate.js';

const named = z.object({ user_id_or_email: userNameParameter });

const off = z
  .literal(false, 'must be false: this server deletes neither messages nor profiles of users it deactivates')
  .optional();

/**
 * Data that stock servers can delete when they deactivate a user. This server refuses such requests, so that clients do
 * not believe that the data was deleted.
 */
const deletions = z.object(
  {
    delete_profile: off,
    delete_public_channel_messages: off,
    delete_private_channel_messages: off,
    delete_direct_messages: off,
  },
  'must be an object',
);

/**
 * `DELETE /api/v1/users/{user_id}` and `DELETE /api/v1/users/{email}`: deactivates a user or bot, and its bots. Only
 * administrators may do so. Revokes their keys and invitations, ends their event queues, and removes their push
 * devices. Messages stay. Errors: BAD_REQUEST for requesters who are not administrators, unknown and inactive users,
 * the only owner, and `actions` that would delete the user's data; UNAUTHORIZED_PRINCIPAL if the target is an owner and
 * the requester is not.
 */
export const deactivateUser = operation({
  method: 'DELETE',
  path: '/api/v1/users/{user_id_or_email}',
  summary: "Deactivates a user or bot, and the user's bots.",
  actor: user,
  parameters: named.extend({ actions: optionalJsonParameter(deletions) }),
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
  async handle(context: ServerContext, { actor, parameters }) {
    return changeOther(context, actor, parameters, deactivate);
  },
});

/**
 * `DELETE /api/v1/users/me`: deactivates the requester and its bots. Errors: BAD_REQUEST for bots and the only owner.
 */
export const deactivateOwnUser = operation({
  method: 'DELETE',
  path: '/api/v1/users/me',
  summary: 'Deactivates the requester and their bots.',
  actor: human,
  parameters: noParameters,
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor }) {
    const self = { kind: 'id', id: actor.id } as const;
    await actor.change(
      async (transaction, locked) => {
        const target = await lockDetails(transaction, self, locked);
        if (target === undefined) throw noSuchUser();
        await deactivate(context, transaction, target);
      },
      // Takes the exclusive row lock before the requester's shared lock: upgrading two shared locks would deadlock.
      async (transaction) => {
        await lockGroups(transaction);
        await lockDetails(transaction, self, actor);
      },
    );
    return {};
  },
});

/**
 * `POST /api/v1/users/{user_id}/reactivate`: reactivates a user or bot in its former channels and groups. Only
 * administrators may do so. Errors: BAD_REQUEST for requesters who are not administrators, unknown and active users, a
 * taken address or name, and a bot whose owner is inactive; UNAUTHORIZED_PRINCIPAL if the target is an owner and the
 * requester is not.
 */
export const reactivateUser = operation({
  method: 'POST',
  path: '/api/v1/users/{user_id_or_email}/reactivate',
  summary: 'Reactivates a user or bot.',
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

/** Deactivates or reactivates a user or bot on behalf of an administrator. */
async function changeOther(
  context: ServerContext,
  actor: Requester,
  parameters: z.output<typeof named>,
  change: ActivityChange,
): Promise<Record<string, never>> {
  const name = readUserName(parameters.user_id_or_email, context.realm);
  await actor.change(async (transaction, locked) => {
    const both = await lockBoth(transaction, locked, name);
    requireOwnerForOwner(both);
    await change(context, transaction, both.target);
  }, lockGroups);
  return {};
}

function requireOwnerForOwner({ administrator, target }: Both): void {
  if (target.role !== roles.owner || administrator.role === roles.owner) return;
  throw new ProtocolError('UNAUTHORIZED_PRINCIPAL', { message: 'Must be an organization owner' });
}
