import { parseJson, stringifyJson } from '@waxwing/protocol';
import { fixedQuery } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { type RealmSettingName, type RealmSettingValues, realmSettings } from './realm-settings.js';

/** Returns the current settings of the organization, with defaults for settings that are not stored. */
export async function readRealmSettings(db: Kysely<ServerTables>): Promise<RealmSettingValues> {
  const rows = await allSettings(db, {});
  const stored = Object.fromEntries(rows.map(({ name, value }) => [name, parseJson(value)]));
  return Object.fromEntries(
    Object.entries(realmSettings).map(([name, { default: value }]) => [
      name,
      Object.hasOwn(stored, name) ? stored[name] : value,
    ]),
  ) as RealmSettingValues;
}

/** Returns the current value of one organization setting, or its default. */
export async function readRealmSetting<Name extends RealmSettingName>(
  db: Kysely<ServerTables>,
  name: Name,
): Promise<RealmSettingValues[Name]> {
  const [row] = await oneSetting(db, { name });
  return (row === undefined ? realmSettings[name].default : parseJson(row.value)) as RealmSettingValues[Name];
}

type SettingRow = ServerTables['realm_settings'];

const allSettings = fixedQuery<ServerTables, object, SettingRow>((db) =>
  db.selectFrom('realm_settings').selectAll(),
);

const oneSetting = fixedQuery<ServerTables, Pick<SettingRow, 'name'>, SettingRow>((db, parameter) =>
  db.selectFrom('realm_settings').selectAll().where('name', '=', parameter('name')),
);

/** Stores a setting. If the value is the default, deletes the row instead. */
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
