import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, ascendingNumbers, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { groupedBy } from './grouped-by.js';

// The only implementation of group membership. Each function runs one recursive statement, regardless of the depth of
// nesting. The statement walks down from the given groups.

type Reader = Kysely<ServerTables>;

/** Returns the active users in each group, including nested groups, in ascending order. Empty for unknown groups. */
export async function membersOfGroups(
  db: Reader,
  groupIds: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, readonly UserId[]>> {
  const members = new Map<GroupId, UserId[]>(groupIds.map((id) => [id, []]));
  if (groupIds.length === 0) return members;
  // Uses a subquery for each group, because for a join, both databases would read the members of all groups. The
  // subquery aggregates the ids into one string, because transferring many rows takes longer than finding them.
  const isActive = sql`(select is_active from users where users.id = member.user_id limit 1) = 1`;
  const rows = await reaching(db, groupIds)
    .selectFrom('reached')
    .select([
      'root_id',
      sql<string | null>`(
        select ${ascendingNumbers(db, 'member.user_id')} from user_group_members as member
        where member.group_id = reached.group_id and ${isActive}
      )`.as('ids'),
    ])
    .execute();
  for (const [rootId, found] of groupedBy(rows, ({ root_id }) => root_id)) {
    const userIds = found.flatMap(({ ids }) => JSON.parse(ids ?? '[]') as UserId[]);
    members.set(rootId, found.length === 1 ? userIds : [...new Set(userIds)].sort((a, b) => a - b));
  }
  return members;
}

/**
 * Returns which of these users are in each group, including nested groups, in two statements. Reads the groups of each
 * user, so that large groups and groups of many groups cost no more than small ones.
 */
export async function membersAmong(
  db: Reader,
  userIds: readonly UserId[],
  groupIds: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, ReadonlySet<UserId>>> {
  const members = new Map<GroupId, Set<UserId>>(groupIds.map((id) => [id, new Set()]));
  if (groupIds.length === 0 || userIds.length === 0) return members;
  const reached = await reaching(db, groupIds).selectFrom('reached').selectAll().execute();
  const rootsOf = groupedBy(reached, ({ group_id }) => group_id);
  const asked = userIds.map((user_id) => ({ user_id }));
  // The unary plus keeps both databases from an index lookup for each pair of a user and a group. A subquery, because
  // PostgreSQL would plan a join by reading all members.
  const { rows } = await sql<{ user_id: UserId; ids: string | null }>`
    select asked.user_id, (
      select ${ascendingNumbers(db, 'member.group_id')} from user_group_members as member
      where member.user_id = asked.user_id and + member.group_id in ${amongNumbers(db, [...rootsOf.keys()])}
    ) as ids
    from ${rowsAsTable(db, 'asked', { user_id: 'integer' }, asked)}`.execute(db);
  for (const { user_id, ids } of rows) {
    for (const groupId of JSON.parse(ids ?? '[]') as GroupId[])
      for (const { root_id } of rootsOf.get(groupId) ?? []) members.get(root_id)?.add(user_id);
  }
  return members;
}

/** Returns whether a user is in at least one of the groups, including nested groups. */
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

/** Returns the groups nested in each group at any depth, without the group itself, in ascending order. */
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

/** Starts a statement with the CTE `reached`, which has a row for each given group and each group nested in it. */
function reaching(db: Reader, groupIds: readonly GroupId[]) {
  return db.withRecursive('reached(root_id, group_id)', (query) =>
    query
      .selectFrom('user_groups')
      .where('id', 'in', amongNumbers(db, groupIds))
      .select(['id as root_id', 'id as group_id'])
      // `union` drops duplicates, so that the recursion terminates.
      .union(
        query
          .selectFrom('reached')
          .innerJoin('user_group_subgroups as nested', 'nested.group_id', 'reached.group_id')
          .select(['reached.root_id', 'nested.subgroup_id as group_id']),
      ),
  );
}
