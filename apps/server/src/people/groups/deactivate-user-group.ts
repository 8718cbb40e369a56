import { ProtocolError, refused } from '@waxwing/protocol';
import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { member } from '../../platform/authentication/authenticate.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import { changeGroup } from './change-group.js';
import type { GroupChange } from './group-change.js';
import type { GroupFacts } from './group-facts.js';
import { groupIdParameter } from './group-parameters.js';
import { mayManage, requireChangeableGroup } from './group-rules.js';
import { type GroupUses, objectionsTo, readGroupUses } from './group-uses.js';

/**
 * `POST /api/v1/user_groups/{user_group_id}/deactivate`: deactivates a group. The group keeps its members and name.
 * Mentions of it no longer notify users, and permissions can no longer use it. Publishes an event to all users.
 * Errors: BAD_REQUEST for guests, bots, unknown groups, role groups, deactivated groups, and requesters who cannot
 * manage the group; CANNOT_DEACTIVATE_GROUP_IN_USE with `objections` for a group that is nested in an active group or
 * used in a permission.
 */
export const deactivateUserGroup = operation({
  method: 'POST',
  path: '/api/v1/user_groups/{user_group_id}/deactivate',
  summary: 'Deactivates a user group.',
  actor: member,
  parameters: z.object({ user_group_id: groupIdParameter }),
  answer: noAnswer,
  codes: ['BAD_REQUEST', 'CANNOT_DEACTIVATE_GROUP_IN_USE'],
  async handle(context: ServerContext, { actor, parameters: { user_group_id: groupId } }) {
    const asked = { groupId, userIds: [], groupIds: [] };
    await changeGroup(context, actor, asked, async (facts, transaction) => {
      const { db } = transaction;
      // Updates before reading: the update waits for transactions that locked the group to use it in a permission, so
      // that the read sees their changes.
      await db.updateTable('user_groups').set({ is_active: 0 }).where('id', '=', groupId).execute();
      return planDeactivation(facts, await readGroupUses(transaction, groupId));
    });
    return {};
  },
});

/**
 * Validates the deactivation and returns the change.
 * @throws ProtocolError if the request violates a rule.
 */
function planDeactivation(facts: GroupFacts, uses: GroupUses): GroupChange {
  const group = requireChangeableGroup(facts.group);
  if (!mayManage(facts)) throw insufficientPermission();
  if (!group.isActive) throw refused('User group is already deactivated');
  const objections = objectionsTo(uses);
  if (objections.length === 0) return { groupId: group.id, isActive: false };
  throw new ProtocolError('CANNOT_DEACTIVATE_GROUP_IN_USE', { fields: { objections } });
}
