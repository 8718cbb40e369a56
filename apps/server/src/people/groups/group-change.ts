import type { GroupId, JsonObject, UserId } from '@waxwing/protocol';
import { amongNumbers, inPieces } from '@waxwing/storage';
import type { Transaction } from 'kysely';
import type { PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { type GroupSettingValue, writeValue } from '../permissions/group-setting-value.js';
import { insertMembers } from '../permissions/insert-members.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import { storePermission } from '../permissions/permission-store.js';
import type { GroupRecord } from './group-record.js';

/** The changes to apply to a group. Absent fields stay unchanged. */
export interface GroupChange {
  readonly groupId: GroupId;
  readonly name?: string;
  readonly description?: string;
  readonly isActive?: boolean;
  readonly permissions?: readonly PermissionChange[];
  readonly addedMembers?: readonly UserId[];
  readonly removedMembers?: readonly UserId[];
  readonly addedSubgroups?: readonly GroupId[];
  readonly removedSubgroups?: readonly GroupId[];
}

export interface PermissionChange {
  readonly name: PermissionName<'group'>;
  readonly value: GroupSettingValue;
}

/** Applies a group change, with one statement per kind of change. */
export async function applyGroupChange(db: Transaction<ServerTables>, change: GroupChange): Promise<void> {
  const { groupId, name, description, isActive, permissions = [] } = change;
  const { addedMembers = [], removedMembers = [], addedSubgroups = [], removedSubgroups = [] } = change;
  const set = {
    ...(name === undefined ? {} : { name, name_lower: name.toLowerCase() }),
    ...(description === undefined ? {} : { description }),
    ...(isActive === undefined ? {} : { is_active: isActive ? 1 : 0 }),
  };
  if (Object.keys(set).length > 0) {
    await db.updateTable('user_groups').set(set).where('id', '=', groupId).execute();
  }
  for (const { name, value } of permissions) {
    await storePermission(db, { level: 'group', ownerId: groupId, name }, value);
  }
  const group = { group_id: groupId };
  await insertMembers(db, groupId, addedMembers);
  await inPieces(db, removedMembers, async (piece) => {
    const gone = db.deleteFrom('user_group_members').where('group_id', '=', groupId);
    await gone.where('user_id', 'in', amongNumbers(db, piece)).execute();
  });
  if (addedSubgroups.length > 0) {
    const rows = addedSubgroups.map((subgroup_id) => ({ ...group, subgroup_id }));
    await db.insertInto('user_group_subgroups').values(rows).execute();
  }
  if (removedSubgroups.length > 0) {
    const gone = db.deleteFrom('user_group_subgroups').where('group_id', '=', groupId);
    await gone.where('subgroup_id', 'in', amongNumbers(db, removedSubgroups)).execute();
  }
}

/** Whether a group was active before a change and, if the change reactivated it, the group's new record. */
interface ChangedGroup {
  readonly wasActive: boolean;
  readonly reactivated?: GroupRecord | undefined;
}

/** An event, and the clients that get it. */
type GroupEvent = Pick<PublishedEvent, 'event' | 'onlyFor'>;

const capability = 'include_deactivated_groups';

/**
 * Builds the events for a change, in order. Clients without the capability do not support deactivated groups. For
 * them, deactivation removes the group and reactivation adds it.
 */
export function eventsOfChange(change: GroupChange, { wasActive, reactivated }: ChangedGroup): GroupEvent[] {
  const events = changeEvents(change);
  if (wasActive && change.isActive !== false) return events.map((event) => ({ event }));
  const forCapable = events.map((event) => ({ event, onlyFor: { capability, isLocked: true } as const }));
  if (!wasActive && reactivated === undefined) return forCapable;
  const event =
    reactivated === undefined
      ? { type: 'user_group', op: 'remove', group_id: change.groupId }
      : { type: 'user_group', op: 'add', group: reactivated };
  return [...forCapable, { event, onlyFor: { capability, isLocked: false } }];
}

function changeEvents(change: GroupChange): JsonObject[] {
  const { groupId, name, description, isActive, permissions = [] } = change;
  const data = {
    ...(name === undefined ? {} : { name }),
    ...(description === undefined ? {} : { description }),
    ...(isActive === undefined ? {} : { deactivated: !isActive }),
    ...Object.fromEntries(permissions.map(({ name, value }) => [name, writeValue(value)])),
  };
  const event = (op: string, fields: JsonObject) => ({
    type: 'user_group',
    op,
    group_id: groupId,
    ...fields,
  });
  const listed = (op: string, field: string, ids: readonly number[] = []) =>
    ids.length === 0 ? [] : [event(op, { [field]: ids })];
  return [
    ...(Object.keys(data).length === 0 ? [] : [event('update', { data })]),
    ...listed('add_members', 'user_ids', change.addedMembers),
    ...listed('remove_members', 'user_ids', change.removedMembers),
    ...listed('add_subgroups', 'direct_subgroup_ids', change.addedSubgroups),
    ...listed('remove_subgroups', 'direct_subgroup_ids', change.removedSubgroups),
  ];
}
