import { refused } from '@waxwing/protocol';
import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { lockingRows } from '@waxwing/storage';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { member } from '../../platform/authentication/authenticate.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { publishInvitations } from './publish-invitations.js';

/**
 * `DELETE /api/v1/invites/multiuse/{invite_id}`: revokes an invitation link. Takes effect before the response is sent.
 * Only the inviter and administrators may revoke it. Errors: BAD_REQUEST, with the same message for an invitation that
 * does not exist and for an invitation that the requester may not revoke.
 */
export const revokeInvitation = operation({
  method: 'DELETE',
  path: '/api/v1/invites/multiuse/{invite_id}',
  summary: 'Revokes an invitation link.',
  actor: member,
  parameters: z.object({ invite_id: integerParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters: { invite_id: id } }) {
    await actor.change(async (transaction, locked) => {
      const { db } = transaction;
      const found = await db
        .selectFrom('invitations')
        .select('inviter_id')
        .where('id', '=', id)
        .$if(!isAdministrator(locked.role), (query) => query.where('inviter_id', '=', locked.id))
        .modifyEnd(lockingRows(db))
        .executeTakeFirst();
      if (found === undefined) throw refused('No such invitation');
      await db.deleteFrom('invitations').where('id', '=', id).execute();
      await publishInvitations(context, transaction, found.inviter_id);
    });
    return {};
  },
});
