import type { Kysely } from 'kysely';
import { z } from 'zod';
import { initialState, type StateContext } from '../../platform/event-queues/initial-state.js';
import type { ServerTables } from '../../tables.js';
import {
  type GroupSettingValue,
  groupSettingAnswer,
  writeValue,
} from '../permissions/group-setting-value.js';
import { type PermissionName, permissionNames } from '../permissions/permission-settings.js';
import { readPermissions, roleGroupIds } from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import {
  permissionConfiguration,
  supportedPermissionSettings,
} from '../permissions/supported-permission-settings.js';
import { isPublicOnWeb } from './public-access.js';
import { realmLimits } from './realm-limits.js';
import { mirrorShapes, mirrorsOf } from './realm-mirrors.js';
import { readRealmSettings } from './realm-setting-store.js';
import { channelSettingNames, noChannel, type RealmSettingName, realmSettings } from './realm-settings.js';

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
const mirrorFields = prefixed(Object.entries(mirrorShapes)) as MirrorFields;
type Fields = z.input<z.ZodObject<SettingFields & PermissionFields & MirrorFields>>;

const configurations = z.record(z.string(), permissionConfiguration);

/**
 * The settings and permissions of the organization. Unauthenticated clients get neither the welcome message nor the ids
 * of channels that are not web-public.
 */
export const realmState = initialState({
  eventType: 'realm',
  shape: z.object({
    realm_uuid: z.string(),
    realm_name: z.string(),
    realm_url: z.string(),
    max_topic_length: z.number().int(),
    max_message_length: z.number().int(),
    max_stream_name_length: z.number().int(),
    max_stream_description_length: z.number().int(),
    max_channel_folder_name_length: z.number().int(),
    max_channel_folder_description_length: z.number().int(),
    realm_empty_topic_display_name: z.string(),
    ...settingFields,
    ...permissionFields,
    ...mirrorFields,
    server_supported_permission_settings: z.object({
      realm: configurations,
      stream: configurations,
      group: configurations,
    }),
  }),
  fetch: readRealm,
  async fetchForSpectator(context) {
    const { realm_welcome_message_custom_text: _, ...notified } = await readRealm(context);
    const known = await spectatorChannelIds(context.database.db);
    const named = channelSettingNames.map((name) => {
      const id = notified[`realm_${name}`];
      return [name, known.has(id) ? id : noChannel] as const;
    });
    return { ...notified, ...prefixed(named) };
  },
});

/** Returns the channels that unauthenticated clients can see. */
async function spectatorChannelIds(db: Kysely<ServerTables>): Promise<ReadonlySet<unknown>> {
  const rows = await db.selectFrom('channels').select('id').where(isPublicOnWeb).execute();
  return new Set(rows.map(({ id }) => id));
}

async function readRealm({ database: { db }, realm: { name, url, uuid } }: StateContext) {
  return {
    realm_uuid: uuid,
    realm_name: name,
    realm_url: url,
    ...realmLimits,
    ...(await readFields(db)),
    server_supported_permission_settings: supportedPermissionSettings(),
  };
}

async function readFields(db: Kysely<ServerTables>): Promise<Fields> {
  const settings = await readRealmSettings(db);
  const permissions = (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm);
  const mirrors = mirrorsOf({ ...settings, ...permissions }, await roleGroupIds(db));
  const values = Object.entries<GroupSettingValue>(permissions).map(
    ([name, value]) => [name, writeValue(value)] as const,
  );
  return prefixed([...Object.entries(settings), ...values, ...Object.entries(mirrors)]) as Fields;
}

function prefixed(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(([name, value]) => [`realm_${name}`, value]));
}
