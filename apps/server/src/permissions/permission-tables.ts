import type { GroupId } from '@waxwing/protocol';
import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionLevel } from './permission-settings.js';

export interface PermissionTables {
  /** Who may do something, where it is not the setting's default. */
  permissions: {
    level: PermissionLevel;
    /** The channel or the group that it is about; {@link wholeRealm} for the organisation. */
    owner_id: number;
    name: string;
    /** A group of people's making, or one without a name that is for this permission alone. */
    group_id: GroupId;
  };
}

/** Stands for the organisation, of which there is one, where a permission needs an owner. */
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
  // Asked before a group is deactivated.
  await db.schema.createIndex('permissions_group').on('permissions').column('group_id').execute();
}
