import type { GroupId } from '@waxwing/protocol';
import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionLevel } from './permission-settings.js';

export interface PermissionTables {
  /** Permission values that differ from the default. */
  permissions: {
    level: PermissionLevel;
    /** The channel or group; {@link wholeRealm} for the organization. */
    owner_id: number;
    name: string;
    /** A named group, or an unnamed group that only this permission uses. */
    group_id: GroupId;
  };
}

/** The `owner_id` of the organization's permissions. There is one organization. */
export const wholeRealm = 1;

const { integer, text } = columnTypes;

export async function createPermissions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('permissions')
    .addColumn('level', text, (column) => column.notNull())
    .addColumn('owner_id', integer, (column) => column.notNull())
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('group_id', integer, (column) => column.notNull().references('user_groups.id'))
    .addPrimaryKeyConstraint('permissions_of_owner', ['level', 'owner_id', 'name'])
    .execute();
  // Deactivating a group searches for the permissions that use the group.
  await db.schema.createIndex('permissions_group').on('permissions').column('group_id').execute();
}
