import { refused } from '@waxwing/protocol';
import { booleanParameter, integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { isInAnyGroup } from '../permissions/nested-membership.js';
import { groupIdParameter } from './group-parameters.js';
import { directMembersAmong } from './group-store.js';
import { requireGroup } from './require-group.js';

/**
 * `GET /api/v1/user_groups/{user_group_id}/members/{user_id}`: returns whether a user is in a group, including nested
 * groups unless `direct_member_only`. Errors: BAD_REQUEST for guests, unknown groups and unknown users.
 */
export const getGroupMembership = operation({
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/members/{user_id}',
  summary: 'Returns whether a user is a member of a user group.',
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    user_id: integerParameter.brand<'UserId'>(),
    direct_member_only: booleanParameter.default(false),
  }),
  answer: z.object({ is_user_group_member: z.boolean() }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { parameters }) {
    const { user_group_id: groupId, direct_member_only: isDirectOnly } = parameters;
    const userId = parameters.user_id;
    const group = await requireGroup(db, groupId);
    const found = await db.selectFrom('users').select('id').where('id', '=', userId).executeTakeFirst();
    if (found === undefined) throw refused('No such user');
    const isMember = isDirectOnly
      ? (await directMembersAmong(db, group.id, [userId])).has(userId)
      : await isInAnyGroup(db, userId, [group.id]);
    return { is_user_group_member: isMember };
  },
});
