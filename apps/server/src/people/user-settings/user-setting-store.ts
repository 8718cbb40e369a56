import { parseJson, stringifyJson, type UserId } from '@waxwing/protocol';
import { type AliasedRawBuilder, type Kysely, sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { type UserSettingName, type UserSettingValues, userSettings } from './user-settings.js';

/** Returns a user's current settings, including defaults. */
export async function readUserSettings(db: Kysely<ServerTables>, userId: UserId): Promise<UserSettingValues> {
  const rows = await db
    .selectFrom('user_settings')
    .select(['name', 'value'])
    .where('user_id', '=', userId)
    .execute();
  const stored = new Map(rows.map(({ name, value }) => [name, parseJson(value)]));
  return Object.fromEntries(
    Object.entries(userSettings).map(([name, { default: value }]) => [
      name,
      stored.has(name) ? stored.get(name) : value,
    ]),
  ) as UserSettingValues;
}

/** Returns a select expression for a setting of the user in `userColumn`. Decode it with {@link readStored}. */
export function storedSetting<Name extends UserSettingName>(
  name: Name,
  userColumn: string,
): AliasedRawBuilder<string | null, Name> {
  const ofUser = sql`user_settings.user_id = ${sql.ref(userColumn)} and user_settings.name = ${name}`;
  return sql<string | null>`(select value from user_settings where ${ofUser})`.as(name);
}

/** Decodes a {@link storedSetting} column. Returns the default if the column is null. */
export function readStored<Name extends UserSettingName>(
  row: Readonly<Record<Name, string | null>>,
  name: Name,
): UserSettingValues[Name] {
  const value = row[name];
  return (value === null ? userSettings[name].default : parseJson(value)) as UserSettingValues[Name];
}

/** Stores a setting of a locked user. A value equal to the default is deleted instead. */
export async function storeUserSetting(
  db: Transaction<ServerTables>,
  userId: UserId,
  name: UserSettingName,
  value: UserSettingValues[UserSettingName],
): Promise<void> {
  await db.deleteFrom('user_settings').where('user_id', '=', userId).where('name', '=', name).execute();
  if (value === userSettings[name].default) return;
  await db
    .insertInto('user_settings')
    .values({ user_id: userId, name, value: stringifyJson(value) })
    .execute();
}
