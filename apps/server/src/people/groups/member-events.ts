import type { JsonObject, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { groupedBy } from '../permissions/grouped-by.js';
import type { MembershipChange } from './settle-role-groups.js';

/** Builds the events for users who joined or left groups. */
export function memberEvents(changes: readonly MembershipChange[]): JsonObject[] {
  return changes.map(({ op, groupId, userIds }) => ({
    type: 'user_group',
    op,
    group_id: groupId,
    user_ids: userIds,
  }));
}

/**
 * Builds the events that remove deactivated users from their direct groups, or add them again after reactivation.
 * Events for deactivated groups go only to clients with the capability. The caller sets the audience.
 */
export async function eventsOfMemberActivity(
  db: Kysely<ServerTables>,
  op: MembershipChange['op'],
  userIds: readonly UserId[],
): Promise<Pick<PublishedEvent, 'event' | 'onlyFor'>[]> {
  const rows = await db
    .selectFrom('user_group_members as member')
    .innerJoin('user_groups', 'user_groups.id', 'member.group_id')
    .select(['member.group_id', 'member.user_id', 'user_groups.is_active'])
    .where('member.user_id', 'in', amongNumbers(db, userIds))
    .where('user_groups.name', 'is not', null)
    .orderBy('member.group_id')
    .orderBy('member.user_id')
    .execute();
  const onlyFor = { capability: 'include_deactivated_groups', isLocked: true } as const;
  return [...groupedBy(rows, ({ group_id }) => group_id)].flatMap(([groupId, members]) => {
    const events = memberEvents([{ op, groupId, userIds: members.map(({ user_id }) => user_id) }]);
    const isActive = members.every(({ is_active }) => is_active === 1);
    return events.map((event) => ({ event, ...(isActive ? {} : { onlyFor }) }));
  });
}
