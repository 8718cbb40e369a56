import { booleanParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { subgroupsOfGroups } from '../permissions/nested-membership.js';
import { groupIdParameter } from './group-parameters.js';
import { requireGroup } from './require-group.js';

/**
 * `GET /api/v1/user_groups/{user_group_id}/subgroups`: returns the groups nested in a group, at any depth unless
 * `direct_subgroup_only`. Errors: BAD_REQUEST for guests and unknown groups.
 */
export const getSubgroups = operation({
  method: 'GET',
  path: '/api/v1/user_groups/{user_group_id}/subgroups',
  summary: "Returns the ids of a user group's subgroups.",
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    direct_subgroup_only: booleanParameter.default(false),
  }),
  answer: z.object({ subgroups: z.array(z.number().int()) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { parameters }) {
    const { id, subgroupIds } = await requireGroup(db, parameters.user_group_id);
    const nested = parameters.direct_subgroup_only
      ? subgroupIds
      : (await subgroupsOfGroups(db, [id])).get(id);
    return { subgroups: [...(nested ?? [])] };
  },
});
