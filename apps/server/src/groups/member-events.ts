import type { JsonObject } from '@waxwing/protocol';
import type { MembershipChange } from './settle-role-groups.js';

/** What clients are told of users who joined or left groups. */
export function memberEvents(changes: readonly MembershipChange[]): JsonObject[] {
  return changes.map(({ op, groupId, userIds }) => ({
    type: 'user_group',
    op,
    group_id: groupId,
    user_ids: userIds,
  }));
}
