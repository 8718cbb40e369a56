import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, ascendingNumbers, isAmong, isPostgres, readPages } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { groupedBy } from '../permissions/grouped-by.js';
import { listMembers, membersPerPiece } from '../permissions/member-lists.js';
import { readPermissions } from '../permissions/permission-store.js';
import type { Group, ListedGroup } from './group-record.js';

type Reader = Kysely<ServerTables>;
type NamedRow = Selectable<ServerTables['user_groups']> & { readonly name: string };

/**
 * Page size. Small enough to avoid noticeable delays for other requests, even if each group has thousands of members.
 */
const groupsPerPage = 25;

/** Yields all named groups, ordered by id, in pages. Each page is current when it is read. */
export function groupPages(
  db: Reader,
  { includesDeactivated }: { readonly includesDeactivated: boolean },
): AsyncGenerator<ListedGroup[]> {
  return readPages(groupsPerPage, async (last?: ListedGroup) => {
    const rows = await namedGroups(db)
      .$if(!includesDeactivated, (query) => query.where('is_active', '=', 1))
      .where('id', '>', last?.id ?? (0 as GroupId))
      .limit(groupsPerPage)
      .execute();
    return withMembers(db, await complete(db, rows as NamedRow[]));
  });
}

/** Returns the named groups with these ids, without their members. Omits unknown ids. */
export async function findGroups(db: Reader, ids: readonly GroupId[]): Promise<Group[]> {
  if (ids.length === 0) return [];
  const rows = await namedGroups(db).where('id', 'in', amongNumbers(db, ids)).execute();
  return complete(db, rows as NamedRow[]);
}

/** Like {@link findGroups}, with the members of each group. */
export async function listGroups(db: Reader, ids: readonly GroupId[]): Promise<ListedGroup[]> {
  return withMembers(db, await findGroups(db, ids));
}

async function withMembers(db: Reader, groups: readonly Group[]): Promise<ListedGroup[]> {
  const membersOf = await readDirectMembers(
    db,
    groups.map(({ id }) => id),
  );
  return groups.map((group) => ({ ...group, memberIds: membersOf.get(group.id) ?? [] }));
}

/** Returns which of these users are active direct members of a group. */
export async function directMembersAmong(
  db: Reader,
  groupId: GroupId,
  userIds: readonly UserId[],
): Promise<ReadonlySet<UserId>> {
  if (userIds.length === 0) return new Set();
  const rows = await db
    .selectFrom('user_group_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .where('member.group_id', '=', groupId)
    .where('member.user_id', 'in', amongNumbers(db, userIds))
    .where('users.is_active', '=', 1)
    .select('member.user_id')
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}

function namedGroups(db: Reader) {
  return db.selectFrom('user_groups').selectAll().where('name', 'is not', null).orderBy('id');
}

async function complete(db: Reader, rows: readonly NamedRow[]): Promise<Group[]> {
  if (rows.length === 0) return [];
  const ids = rows.map(({ id }) => id);
  const subgroups = await db
    .selectFrom('user_group_subgroups')
    .where('group_id', 'in', amongNumbers(db, ids))
    .select(['group_id', 'subgroup_id as id'])
    .orderBy('subgroup_id')
    .execute();
  const permissionsOf = await readPermissions(db, 'group', ids);
  const subgroupsOf = groupedBy(subgroups, ({ group_id }) => group_id);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    description: row.description,
    isSystem: row.is_system === 1,
    isActive: row.is_active === 1,
    creatorId: row.creator_id ?? undefined,
    createdAt: row.created_at ?? undefined,
    subgroupIds: (subgroupsOf.get(row.id) ?? []).map(({ id }) => id),
    permissions: permissionsOf(row.id),
  }));
}

/** Returns the active direct members of each group, in ascending order. Omits groups without active direct members. */
export function readDirectMembers(
  db: Reader,
  groupIds: readonly GroupId[],
): Promise<ReadonlyMap<GroupId, readonly UserId[]>> {
  return listMembers(groupIds, ({ owners, first, after }) => {
    const pairs = db
      .selectFrom('user_group_members')
      .innerJoin('users', 'users.id', 'user_group_members.user_id')
      .where('users.is_active', '=', 1)
      .where(isAmong(db, 'group_id', 'integer', owners))
      .where((is) => is.or([is('group_id', '>', first), is('user_id', '>', after)]))
      .select(['group_id as owner', 'user_id'])
      .$if(!isPostgres(db), (query) => query.orderBy('group_id').orderBy('user_id').limit(membersPerPiece));
    return db
      .selectFrom(pairs.as('pair'))
      .groupBy('owner')
      .select(({ fn }) => ['owner', fn.countAll().as('members'), fn.max('user_id').as('last')])
      .select(ascendingNumbers(db, 'user_id').as('ids'))
      .execute();
  });
}
