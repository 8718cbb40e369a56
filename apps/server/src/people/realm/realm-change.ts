import type { JsonObject } from '@waxwing/protocol';
import type { PushRealm } from '@waxwing/server-push';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import type { ServerTransaction } from '../../tables.js';
import { memberEvents } from '../groups/member-events.js';
import { settleRoleGroups } from '../groups/settle-role-groups.js';
import { writeValue } from '../permissions/group-setting-value.js';
import { readReferences } from '../permissions/known-references.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import {
  readPermissions,
  roleGroupId,
  roleGroupIds,
  storePermission,
} from '../permissions/permission-store.js';
import { wholeRealm } from '../permissions/permission-tables.js';
import { namedIn } from '../permissions/plan-permission.js';
import type { RoleGroupName } from '../permissions/role-groups.js';
import type { RealmChange, RealmFacts, RealmUpdateRequest } from './plan-realm-update.js';
import { type MirroredValues, mirrorsOf } from './realm-mirrors.js';
import { readRealmSettings, storeRealmSetting } from './realm-setting-store.js';
import { channelSettingNames, type RealmSettingName } from './realm-settings.js';
import { renderedDescription } from './rendered-description.js';

/** Reads the facts for a change to the organization. The caller must have locked groups and settings (`lockGroups`). */
export async function readRealmFacts(
  transaction: ServerTransaction,
  role: RealmFacts['role'],
  { permissions, settings }: RealmUpdateRequest,
): Promise<RealmFacts> {
  const { db } = transaction;
  const named = namedIn(
    Object.values(permissions).flatMap((requested) => (requested === undefined ? [] : [requested.new])),
  );
  return {
    role,
    settings: await readRealmSettings(db),
    permissions: (await readPermissions(db, 'realm', [wholeRealm]))(wholeRealm),
    nobodyId: roleGroupId(await roleGroupIds(db), 'role:nobody'),
    known: await readReferences(transaction, named),
    channels: await channelsAmong(transaction, settings),
  };
}

/**
 * Locks the channels that the settings refer to until the transaction ends, and returns those that are not archived.
 */
async function channelsAmong(
  { db }: ServerTransaction,
  settings: RealmUpdateRequest['settings'],
): Promise<RealmFacts['channels']> {
  const ids = channelSettingNames.flatMap((name) => settings[name] ?? []);
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('channels')
    .select(['id', 'is_private'])
    .where('id', 'in', amongNumbers(db, ids))
    .where('is_archived', '=', 0)
    .orderBy('id')
    .modifyEnd(keepingRows(db))
    .execute();
  return rows.map(({ id, is_private }) => ({ id, isPrivate: is_private === 1 }));
}

/**
 * Applies a change and returns its events, in order. A new waiting period also promotes and demotes full members. The
 * event for a new description also contains its HTML.
 */
export async function applyRealmChange(
  { db }: ServerTransaction,
  change: RealmChange,
  { now, realm }: { readonly now: number; readonly realm: Pick<PushRealm, 'url'> },
): Promise<JsonObject[]> {
  for (const [name, value] of Object.entries(change.settings)) {
    await storeRealmSetting(db, name as RealmSettingName, value);
  }
  for (const [name, value] of Object.entries(change.permissions)) {
    const key = { level: 'realm', ownerId: wholeRealm, name: name as PermissionName<'realm'> } as const;
    await storePermission(db, key, value);
  }
  const { waiting_period_threshold: waitingPeriodDays } = change.settings;
  const memberships =
    waitingPeriodDays === undefined ? [] : await settleRoleGroups(db, { waitingPeriodDays, now });
  return [...updateDict(change, await roleGroupIds(db), realm), ...memberEvents(memberships)];
}

function updateDict(
  { settings, permissions }: RealmChange,
  roleGroups: ReadonlyMap<RoleGroupName, number>,
  realm: Pick<PushRealm, 'url'>,
): JsonObject[] {
  const values = Object.entries(permissions).map(([name, value]) => [name, writeValue(value)]);
  const mirrored: Partial<MirroredValues> = { ...settings, ...permissions };
  const { description } = settings;
  const data = {
    ...settings,
    ...(description === undefined ? {} : { rendered_description: renderedDescription(description, realm) }),
    ...Object.fromEntries(values),
    ...mirrorsOf(mirrored, roleGroups),
  };
  if (Object.keys(data).length === 0) return [];
  return [{ type: 'realm', op: 'update_dict', property: 'default', data }];
}
