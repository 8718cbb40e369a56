import { refused } from '@waxwing/protocol';
import { noAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { groupIdList } from '../permissions/id-lists.js';
import { changeGroup } from './change-group.js';
import { groupIdParameter } from './group-parameters.js';
import { planMemberUpdate } from './plan-member-update.js';

/**
 * `POST /api/v1/user_groups/{user_group_id}/subgroups`: adds subgroups to a group and removes others, all or nothing.
 * Publishes events to all users. Refuses with BAD_REQUEST an empty request, guests, unknown groups, role
 * groups, requesters who cannot manage the group, and subgroups that are unknown, deactivated, in the group already,
 * or not in it. Also refuses a subgroup that contains this group.
 */
export const updateSubgroups = operation({
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/subgroups',
  summary: 'Nests groups in a group of users, and takes others out of it.',
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    add: optionalJsonParameter(groupIdList),
    delete: optionalJsonParameter(groupIdList),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { user_group_id: groupId, add: addSubgroups = [], delete: removeSubgroups = [] } = parameters;
    if (addSubgroups.length + removeSubgroups.length === 0) {
      throw refused('Nothing to do: name something in add or delete');
    }
    const asked = { groupId, userIds: [], groupIds: addSubgroups };
    await changeGroup(context, actor, asked, (facts) =>
      planMemberUpdate(facts, { add: [], remove: [], addSubgroups, removeSubgroups }),
    );
    return {};
  },
});
