import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { ServerTables } from '../tables.js';

// The one answer to who is in a group: each of these is a single statement, however deep groups are nested, which goes
// down from the groups that are asked about.

type Reader = Kysely<ServerTables>;

/** Each group with the active users in it, nested ones too, in ascending order; nobody for unknown groups. */
export async function membersOfGroups(
  db: Reader,
  groupIds: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, readonly UserId[]>> {
  const members = new Map<GroupId, UserId[]>(groupIds.map((id) => [id, []]));
  if (groupIds.length === 0) return members;
  const rows = await reaching(db, groupIds)
    .selectFrom('reached')
    .innerJoin('user_group_members as member', 'member.group_id', 'reached.group_id')
    .innerJoin('users', 'users.id', 'member.user_id')
    .where('users.is_active', '=', 1)
    .select(['reached.root_id', 'member.user_id'])
    .distinct()
    .orderBy('member.user_id')
    .execute();
  for (const { root_id, user_id } of rows) members.get(root_id)?.push(user_id);
  return members;
}

/** Whether a user is in at least one of the groups, nested ones counted. */
export async function isInAnyGroup(
  db: Reader,
  userId: UserId,
  groupIds: readonly GroupId[],
): Promise<boolean> {
  if (groupIds.length === 0) return false;
  const row = await reaching(db, groupIds)
    .selectFrom('reached')
    .innerJoin('user_group_members as member', 'member.group_id', 'reached.group_id')
    .where('member.user_id', '=', userId)
    .select('reached.root_id')
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Each group with all groups nested in it at whatever depth, itself not counted, in ascending order. */
export async function subgroupsOfGroups(
  db: Reader,
  groupIds: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, readonly GroupId[]>> {
  const subgroups = new Map<GroupId, GroupId[]>(groupIds.map((id) => [id, []]));
  if (groupIds.length === 0) return subgroups;
  const rows = await reaching(db, groupIds).selectFrom('reached').selectAll().orderBy('group_id').execute();
  for (const { root_id, group_id } of rows) if (root_id !== group_id) subgroups.get(root_id)?.push(group_id);
  return subgroups;
}

/** Begins a statement in which `reached` has a row for each group that is asked about and each group in it. */
function reaching(db: Reader, groupIds: readonly GroupId[]) {
  return db.withRecursive('reached(root_id, group_id)', (query) =>
    query
      .selectFrom('user_groups')
      .where('id', 'in', amongNumbers(db, groupIds))
      .select(['id as root_id', 'id as group_id'])
      // What is there already is not added again, so that the search ends.
      .union(
        query
          .selectFrom('reached')
          .innerJoin('user_group_subgroups as nested', 'nested.group_id', 'reached.group_id')
          .select(['reached.root_id', 'nested.subgroup_id as group_id']),
      ),
  );
}
