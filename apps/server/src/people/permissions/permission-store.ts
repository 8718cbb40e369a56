import type { GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, fixedQuery, isAmong, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { GroupSettingValue } from './group-setting-value.js';
import { groupedBy } from './grouped-by.js';
import { insertMembers } from './insert-members.js';
import {
  type PermissionLevel,
  type PermissionName,
  permissionNames,
  permissionSetting,
} from './permission-settings.js';
import { type RoleGroupName, roleGroups } from './role-groups.js';

type Reader = Kysely<ServerTables>;
type Writer = Transaction<ServerTables>;

/** A reference to a permission of the organization (`ownerId` is `wholeRealm`), a channel, or a group. */
export type PermissionKey = {
  [Level in PermissionLevel]: {
    readonly level: Level;
    readonly ownerId: number;
    readonly name: PermissionName<Level>;
  };
}[PermissionLevel];

/** Every permission of one channel, one group, or the organization, with its value. */
export type PermissionValues<Level extends PermissionLevel> = Readonly<
  Record<PermissionName<Level>, GroupSettingValue>
>;

/** Returns the ids of the role groups, which never change. */
export async function roleGroupIds(db: Reader): Promise<ReadonlyMap<RoleGroupName, GroupId>> {
  const rows = await findRoleGroups(db, {});
  return new Map(rows.map(({ id, name }) => [name as RoleGroupName, id]));
}

const findRoleGroups = fixedQuery<
  ServerTables,
  object,
  { readonly id: GroupId; readonly name: string | null }
>((db) =>
  db
    .selectFrom('user_groups')
    .select(['id', 'name'])
    // Compares lower-case names, because they have an index.
    .where(
      'name_lower',
      'in',
      roleGroups.map(({ name }) => name),
    )
    .where('is_system', '=', 1),
);

/**
 * Reads the permissions of these channels or groups, including defaults. Without `ownerIds`, reads all permissions of
 * the level. Runs two statements, or four if any value is an unnamed group.
 */
export async function readPermissions<Level extends PermissionLevel>(
  db: Reader,
  level: Level,
  ownerIds?: readonly number[],
): Promise<(ownerId: number) => PermissionValues<Level>> {
  const stored = () =>
    db
      .selectFrom('permissions')
      .innerJoin('user_groups as value', 'value.id', 'permissions.group_id')
      .where('permissions.level', '=', level)
      .$if(ownerIds !== undefined, (query) =>
        query.where('permissions.owner_id', 'in', amongNumbers(db, ownerIds ?? [])),
      );
  const ids = await roleGroupIds(db);
  const rows = await stored()
    .select(['owner_id', 'permissions.name', 'group_id', 'value.name as value_name'])
    .execute();
  const unnamed = rows.flatMap(({ group_id, value_name }) => (value_name === null ? [group_id] : []));
  const { membersOf, subgroupsOf } = await readUnnamedGroups(db, unnamed);
  const values = new Map<string, GroupSettingValue>();
  for (const { owner_id, name, group_id, value_name } of rows) {
    const directMembers = (membersOf.get(group_id) ?? []).map(({ id }) => id);
    const directSubgroups = (subgroupsOf.get(group_id) ?? []).map(({ id }) => id);
    values.set(`${owner_id} ${name}`, value_name === null ? { directMembers, directSubgroups } : group_id);
  }
  return (ownerId) =>
    Object.fromEntries(
      permissionNames(level).map((name) => [
        name,
        values.get(`${ownerId} ${name}`) ?? roleGroupId(ids, defaultGroup(level, name)),
      ]),
    ) as PermissionValues<Level>;
}

/** Returns the active members and the subgroups of each of these groups. */
async function readUnnamedGroups(db: Reader, groupIds: readonly GroupId[]) {
  if (groupIds.length === 0)
    return { membersOf: new Map<GroupId, never>(), subgroupsOf: new Map<GroupId, never>() };
  const members = await db
    .selectFrom('user_group_members as member')
    .innerJoin('users', 'users.id', 'member.user_id')
    .where(isAmong(db, 'member.group_id', 'integer', groupIds))
    .where('users.is_active', '=', 1)
    .select(['member.group_id', 'member.user_id as id'])
    .orderBy('member.user_id')
    .execute();
  const subgroups = await db
    .selectFrom('user_group_subgroups as nested')
    .where('nested.group_id', 'in', amongNumbers(db, groupIds))
    .select(['nested.group_id', 'nested.subgroup_id as id'])
    .orderBy('nested.subgroup_id')
    .execute();
  return {
    membersOf: groupedBy(members, ({ group_id }) => group_id),
    subgroupsOf: groupedBy(subgroups, ({ group_id }) => group_id),
  };
}

/**
 * Stores a collapsed value, replacing the old value. The caller must hold a lock on the owner, which prevents
 * concurrent writes.
 */
export async function storePermission(
  db: Writer,
  { level, ownerId, name }: PermissionKey,
  value: GroupSettingValue,
): Promise<void> {
  const row = await db
    .selectFrom('permissions')
    .innerJoin('user_groups', 'user_groups.id', 'permissions.group_id')
    .select(['group_id', 'user_groups.name as value_name'])
    .where('level', '=', level)
    .where('owner_id', '=', ownerId)
    .where('permissions.name', '=', name)
    .executeTakeFirst();
  const groupId = typeof value === 'number' ? value : await insertUnnamedGroup(db, value);
  await db
    .insertInto('permissions')
    .values({ level, owner_id: ownerId, name, group_id: groupId })
    .onConflict((conflict) =>
      conflict.columns(['level', 'owner_id', 'name']).doUpdateSet({ group_id: groupId }),
    )
    .execute();
  if (row !== undefined && row.value_name === null) {
    await db.deleteFrom('user_groups').where('id', '=', row.group_id).execute();
  }
}

/** A user whose permissions are checked. */
export interface PermissionHolder {
  readonly id: UserId;
  readonly role: Role;
}

const askedColumns = {
  place: 'integer',
  level: 'text',
  owner_id: 'integer',
  name: 'text',
  default_name: 'text',
} as const;

/**
 * Returns whether a user has each of the permissions, in the order of `asked`. Runs a single statement, so that all
 * results come from the same snapshot. Guests never have a permission whose `allowsEveryone` is false.
 */
export async function holdsPermissions(
  db: Reader,
  { id, role }: PermissionHolder,
  asked: readonly PermissionKey[],
): Promise<boolean[]> {
  const eligible = asked.flatMap(({ level, ownerId, name }, place) =>
    role === roles.guest && !permissionSetting(level, name).allowsEveryone
      ? []
      : [{ place, level, owner_id: ownerId, name, default_name: defaultGroup(level, name) }],
  );
  if (eligible.length === 0) return asked.map(() => false);
  const { rows } = await sql<{ place: number }>`
    select place from (
      with recursive asked as (select * from ${rowsAsTable(db, 'v', askedColumns, eligible)}),
      reached(place, group_id) as (
        select asked.place, coalesce(permissions.group_id, user_groups.id)
        from asked
        join user_groups on user_groups.name_lower = asked.default_name
        left join permissions on permissions.level = asked.level and permissions.owner_id = asked.owner_id
          and permissions.name = asked.name
        union
        select reached.place, user_group_subgroups.subgroup_id
        from reached join user_group_subgroups on user_group_subgroups.group_id = reached.group_id
      )
      select distinct reached.place
      from reached join user_group_members on user_group_members.group_id = reached.group_id
      where user_group_members.user_id = ${id}
    ) as held`.execute(db);
  const held = new Set(rows.map(({ place }) => Number(place)));
  return asked.map((_, index) => held.has(index));
}

async function insertUnnamedGroup(
  db: Writer,
  { directMembers, directSubgroups }: Exclude<GroupSettingValue, number>,
): Promise<GroupId> {
  const { id } = await db
    .insertInto('user_groups')
    .values({
      name: null,
      name_lower: null,
      description: '',
      is_system: 0,
      is_active: 1,
      creator_id: null,
      created_at: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const subgroups = directSubgroups.map((subgroup_id) => ({ group_id: id, subgroup_id }));
  await insertMembers(db, id, directMembers);
  if (subgroups.length > 0) await db.insertInto('user_group_subgroups').values(subgroups).execute();
  return id;
}

/**
 * Returns the role group that has a permission by default. Maps `creator` to `role:nobody`, because the creator is
 * stored as a value when the channel or group is created.
 */
function defaultGroup<Level extends PermissionLevel>(
  level: Level,
  name: PermissionName<Level>,
): RoleGroupName {
  const { default: groupName } = permissionSetting(level, name);
  return groupName === 'creator' ? 'role:nobody' : groupName;
}

/** Returns the id of a role group. @throws Error if the database lacks the group, which a migration creates. */
export function roleGroupId(ids: ReadonlyMap<RoleGroupName, GroupId>, name: RoleGroupName): GroupId {
  const id = ids.get(name);
  if (id === undefined) throw new Error(`the database has no group ${name}`);
  return id;
}
