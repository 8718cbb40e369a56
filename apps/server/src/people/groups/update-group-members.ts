import { refused } from '@waxwing/protocol';
import { noAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { nonGuest } from '../../platform/authentication/authenticate.js';
import { groupIdList, userIdList } from '../permissions/id-lists.js';
import { changeGroup } from './change-group.js';
import { groupIdParameter } from './group-parameters.js';
import { planMemberUpdate } from './plan-member-update.js';

/**
 * `POST /api/v1/user_groups/{user_group_id}/members`: adds users and subgroups to a group and removes others. Atomic.
 * Publishes events to all users. Errors: BAD_REQUEST for an empty request, guests, unknown groups, role groups, and
 * requesters without the permission; for users and groups that are unknown, deactivated, already in the group, or not
 * in it; and for a subgroup that contains this group.
 */
export const updateGroupMembers = operation({
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/members',
  summary: 'Adds and removes members and subgroups of a user group.',
  actor: nonGuest,
  parameters: z.object({
    user_group_id: groupIdParameter,
    add: optionalJsonParameter(userIdList),
    delete: optionalJsonParameter(userIdList),
    add_subgroups: optionalJsonParameter(groupIdList),
    delete_subgroups: optionalJsonParameter(groupIdList),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { user_group_id: groupId, add = [], delete: remove = [] } = parameters;
    const { add_subgroups: addSubgroups = [], delete_subgroups: removeSubgroups = [] } = parameters;
    if ([add, remove, addSubgroups, removeSubgroups].every((ids) => ids.length === 0)) {
      throw refused('Nothing to do: specify at least one of add, delete, add_subgroups or delete_subgroups');
    }
    const memberIds = [...add, ...remove];
    const asked = { groupId, memberIds, userIds: add, groupIds: addSubgroups, rows: memberIds.length };
    await changeGroup(context, actor, asked, (facts) =>
      planMemberUpdate(facts, { add, remove, addSubgroups, removeSubgroups }),
    );
    return {};
  },
});
