import { parseJson, stringifyJson } from '@waxwing/protocol';
import { fixedQuery } from '@waxwing/storage';
import type { Kysely, Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';
import { type RealmSettingName, type RealmSettingValues, realmSettings } from './realm-settings.js';

/** The current settings of the organization, with defaults for unset ones. */
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

/** The current value of one organization setting, or its default. */
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

/** Stores a setting. A default value is not stored: its row is deleted. */
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
