import { parseJson, stringifyJson } from '@waxwing/protocol';
import type { Kysely, Transaction } from 'kysely';
import type { ServerTables } from '../tables.js';
import { type RealmSettingName, type RealmSettingValues, realmSettings } from './realm-settings.js';

/** The settings of the organisation as they are now, those that nobody has set included. */
export async function readRealmSettings(db: Kysely<ServerTables>): Promise<RealmSettingValues> {
  const rows = await db.selectFrom('realm_settings').selectAll().execute();
  const stored = Object.fromEntries(rows.map(({ name, value }) => [name, parseJson(value)]));
  return Object.fromEntries(
    Object.entries(realmSettings).map(([name, { default: value }]) => [
      name,
      Object.hasOwn(stored, name) ? stored[name] : value,
    ]),
  ) as RealmSettingValues;
}

/** Stores what a setting is from now on; nothing is kept of one that is what it would be anyway. */
export async function storeRealmSetting(
  db: Transaction<ServerTables>,
  name: RealmSettingName,
  value: RealmSettingValues[RealmSettingName],
): Promise<void> {
  await db.deleteFrom('realm_settings').where('name', '=', name).execute();
  if (value === realmSettings[name].default) return;
  await db
    .insertInto('realm_settings')
    .values({ name, value: stringifyJson(value) })
    .execute();
}
