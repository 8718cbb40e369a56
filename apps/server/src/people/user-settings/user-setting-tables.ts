import type { UserId } from '@waxwing/protocol';
import { columnTypes } from '@waxwing/storage';
import type { Kysely } from 'kysely';

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

export async function createUserSettings(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('user_settings')
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('value', text, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_settings_key', ['user_id', 'name'])
    .execute();
}
