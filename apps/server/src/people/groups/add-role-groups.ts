import type { GroupId } from '@waxwing/protocol';
import type { Transaction } from 'kysely';
import { groupPermissions } from '../permissions/permission-settings.js';
import type { PermissionTables } from '../permissions/permission-tables.js';
import { roleGroups } from '../permissions/role-groups.js';
import type { GroupTables } from './group-tables.js';

/**
 * Number of rows that {@link addRoleGroups} inserts, by table, in an order that allows deleting them: the other tables
 * reference the last table.
 */
export const rowsOfRoleGroups = {
  permissions: roleGroups.length * Object.keys(groupPermissions).length,
  user_group_subgroups: roleGroups.filter(({ subgroup }) => subgroup !== undefined).length,
  user_groups: roleGroups.length,
};

/** Creates the role groups without members, with their default permissions. */
export async function addRoleGroups(db: Transaction<GroupTables & PermissionTables>): Promise<void> {
  const ids = new Map<string, GroupId>();
  for (const { name, description, subgroup } of roleGroups) {
    const values = { name, name_lower: name, description, is_system: 1, is_active: 1 };
    const { id } = await db
      .insertInto('user_groups')
      .values({ ...values, creator_id: null, created_at: null })
      .returning('id')
      .executeTakeFirstOrThrow();
    ids.set(name, id);
    if (subgroup !== undefined) {
      const subgroupId = ids.get(subgroup) as GroupId;
      await db.insertInto('user_group_subgroups').values({ group_id: id, subgroup_id: subgroupId }).execute();
    }
  }
  const permissions = Object.entries(groupPermissions).flatMap(([name, { defaultForRoleGroups }]) =>
    [...ids.values()].map((owner_id) => ({
      level: 'group' as const,
      owner_id,
      name,
      group_id: ids.get(defaultForRoleGroups) as GroupId,
    })),
  );
  await db.insertInto('permissions').values(permissions).execute();
}
