import type { GroupId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Group tables. Times are Unix milliseconds, booleans are 0 or 1. */
export interface GroupTables {
  user_groups: {
    id: Generated<GroupId>;
    /** Null for an unnamed group, which contains the value of a single permission. */
    name: string | null;
    /** Lower-case name for the unique index. */
    name_lower: string | null;
    description: string;
    /** Whether the group is a role group. */
    is_system: number;
    is_active: number;
    creator_id: UserId | null;
    created_at: number | null;
  };
  user_group_members: {
    group_id: GroupId;
    user_id: UserId;
  };
  /** Groups nested in groups. Never contains a cycle. */
  user_group_subgroups: {
    group_id: GroupId;
    subgroup_id: GroupId;
  };
}

const { integer, text } = columnTypes;

export async function createGroups(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('user_groups'))
    .addColumn('name', text)
    .addColumn('name_lower', text)
    .addColumn('description', text, (column) => column.notNull())
    .addColumn('is_system', integer, (column) => column.notNull())
    .addColumn('is_active', integer, (column) => column.notNull())
    .addColumn('creator_id', integer, (column) => column.references('users.id'))
    .addColumn('created_at', integer)
    .execute();
  await sql`create unique index user_groups_name on user_groups (name_lower) where name_lower is not null`.execute(
    db,
  );
  await createPairs(db, 'user_group_members', ['user_id', 'users.id']);
  await createPairs(db, 'user_group_subgroups', ['subgroup_id', 'user_groups.id']);
}

async function createPairs(
  db: Kysely<unknown>,
  table: 'user_group_members' | 'user_group_subgroups',
  [column, references]: ['user_id', 'users.id'] | ['subgroup_id', 'user_groups.id'],
): Promise<void> {
  await db.schema
    .createTable(table)
    .addColumn('group_id', integer, (group) =>
      group.notNull().references('user_groups.id').onDelete('cascade'),
    )
    .addColumn(column, integer, (other) => other.notNull().references(references))
    .addPrimaryKeyConstraint(`${table}_pair`, ['group_id', column])
    .execute();
  await db.schema.createIndex(`${table}_${column}`).on(table).column(column).execute();
}
