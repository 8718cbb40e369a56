import type { Kysely } from 'kysely';
import { z } from 'zod';
import {
  type GroupSettingValue,
  groupSettingAnswer,
  writeValue,
} from '../permissions/group-setting-value.js';
import {
  type PermissionName,
  permissionConfiguration,
  permissionNames,
  supportedPermissionSettings,
} from '../permissions/permission-settings.js';
import { readPermissions, roleGroupIds } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import type { ServerTables } from '../tables.js';
import { mirrorShapes, mirrorsOf } from './realm-mirrors.js';
import { readRealmSettings } from './realm-setting-store.js';
import { type RealmSettingName, realmSettings } from './realm-settings.js';

type SettingFields = {
  [Name in RealmSettingName as `realm_${Name}`]: (typeof realmSettings)[Name]['answer'];
};
type PermissionFields = Record<`realm_${PermissionName<'realm'>}`, typeof groupSettingAnswer>;
type MirrorFields = {
  [Name in keyof typeof mirrorShapes as `realm_${Name}`]: (typeof mirrorShapes)[Name];
};

const settingFields = prefixed(
  Object.entries(realmSettings).map(([name, { answer }]) => [name, answer]),
) as SettingFields;
const permissionFields = prefixed(
  permissionNames('realm').map((name) => [name, groupSettingAnswer]),
) as PermissionFields;
const configurations = z.record(z.string(), permissionConfiguration);

/** The settings and permissions of the organisation, as clients are told of them when they begin. */
export const realmState = {
  eventType: 'realm',
  answer: z.object({
    ...settingFields,
    ...permissionFields,
    ...(prefixed(Object.entries(mirrorShapes)) as MirrorFields),
    server_supported_permission_settings: z.object({
      realm: configurations,
      stream: configurations,
      group: configurations,
    }),
  }),
  async fetch(db: Kysely<ServerTables>) {
    const settings = await readRealmSettings(db);
    const permissions = (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm);
    const mirrors = mirrorsOf({ ...settings, ...permissions }, await roleGroupIds(db));
    const values = Object.entries<GroupSettingValue>(permissions).map(
      ([name, value]) => [name, writeValue(value)] as const,
    );
    return {
      ...prefixed([...Object.entries(settings), ...values, ...Object.entries(mirrors)]),
      server_supported_permission_settings: supportedPermissionSettings(),
    };
  },
};

function prefixed(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(([name, value]) => [`realm_${name}`, value]));
}
