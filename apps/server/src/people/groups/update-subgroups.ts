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
 * `POST /api/v1/user_groups/{user_group_id}/subgroups`: adds subgroups to a group and removes others. Atomic. Publishes
 * events to all users. Errors: BAD_REQUEST for an empty request, guests, unknown groups, role groups, and requesters
 * who cannot manage the group; for subgroups that are unknown, deactivated, already in the group, or not in it; and for
 * a subgroup that contains this group.
 */
export const updateSubgroups = operation({
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/subgroups',
  summary: 'Adds and removes subgroups of a user group.',
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
      throw refused('Nothing to do: specify at least one of add or delete');
    }
    const asked = { groupId, userIds: [], groupIds: addSubgroups };
    await changeGroup(context, actor, asked, (facts) =>
      planMemberUpdate(facts, { add: [], remove: [], addSubgroups, removeSubgroups }),
    );
    return {};
  },
});
