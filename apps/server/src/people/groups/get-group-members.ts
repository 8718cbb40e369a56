import { booleanParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { membersOfGroups } from '../permissions/nested-membership.js';
import { groupIdParameter } from './group-parameters.js';
import { readDirectMembers } from './group-store.js';
import { requireGroup } from './require-group.js';

/**
 * `GET /api/v1/user_groups/{user_group_id}/members`: returns the active users in a group, including nested groups
 * unless `direct_member_only`. Errors: BAD_REQUEST for guests and unknown groups.
 */
export const getGroupMembers = operation({
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/members',
  summary: "Returns the ids of a user group's members.",
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    direct_member_only: booleanParameter.default(false),
  }),
  answer: z.object({ members: z.array(z.number().int()) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { parameters }) {
    const { id } = await requireGroup(db, parameters.user_group_id);
    const members = parameters.direct_member_only
      ? (await readDirectMembers(db, [id])).get(id)
      : (await membersOfGroups(db, [id])).get(id);
    return { members: [...(members ?? [])] };
  },
});
