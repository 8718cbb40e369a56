import type { UserId } from '@waxwing/protocol';
import { columnTypes } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';

export interface UserSettingTables {
  /** Values that differ from the default. Settings that are visible to other users are columns of `users`. */
  user_settings: {
    user_id: UserId;
    name: string;
    /** JSON. */
    value: string;
  };
}

const { integer, text } = columnTypes;

/** Renames the view of recent conversations to its name since feature level 454. */
export async function renameRecentView(db: Kysely<unknown>): Promise<void> {
  await sql`
    update user_settings set value = '"recent"'
    where name = 'web_home_view' and value = '"recent_topics"'`.execute(db);
}

export async function createUserSettings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('user_settings')
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_settings_key', ['user_id', 'name'])
    .execute();
}
