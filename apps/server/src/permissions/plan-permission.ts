import { type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import {
  collapse,
  type GroupSettingValue,
  groupsIn,
  type SettingWish,
  sameValue,
  usersIn,
} from './group-setting-value.js';
import type { KnownReferences, NamedReferences } from './known-references.js';
import { type PermissionLevel, type PermissionName, permissionSetting } from './permission-settings.js';
import type { RoleGroupName } from './role-groups.js';

/** A permission that is to be changed, and what must be known to decide whether it may be. */
export interface PermissionChangeFacts {
  readonly level: PermissionLevel;
  readonly name: PermissionName;
  /** Collapsed. */
  readonly current: GroupSettingValue;
  readonly nobodyId: GroupId;
  readonly known: KnownReferences;
}

/**
 * The collapsed value that a permission is to get; `undefined` where it has it already.
 * @throws ProtocolError EXPECTATION_MISMATCH with `field_name` when `old` is not the current value, and as
 * {@link checkedPermission}.
 */
export function planPermission(
  facts: PermissionChangeFacts,
  wish: SettingWish,
): GroupSettingValue | undefined {
  const { current, nobodyId } = facts;
  if (wish.old !== undefined && !sameValue(collapse(wish.old, nobodyId), current)) {
    throw new ProtocolError('EXPECTATION_MISMATCH', {
      message: `The current value of ${facts.name} is not the one that was expected`,
      fields: { field_name: 'old' },
    });
  }
  if (sameValue(collapse(wish.new, nobodyId), current)) return undefined;
  return checkedPermission(facts, wish.new);
}

/**
 * A value collapsed, if the permission takes it.
 * @throws ProtocolError SYSTEM_GROUP_REQUIRED with `setting_name` where only role groups are taken, and BAD_REQUEST for
 * groups and users that do not exist or were deactivated, and for groups that it does not allow.
 */
export function checkedPermission(
  { level, name, nobodyId, known }: Omit<PermissionChangeFacts, 'current'>,
  wanted: GroupSettingValue,
): GroupSettingValue {
  const value = collapse(wanted, nobodyId);
  const { onlyRoleGroups } = permissionSetting(level, name);
  if (typeof value !== 'number') {
    if (onlyRoleGroups !== undefined) throw roleGroupRequired(name);
    requireKnown(known, { userIds: usersIn(value), groupIds: groupsIn(value) });
    return value;
  }
  // Nobody needs no asking: it is what an empty value collapses to.
  const group =
    value === nobodyId ? { name: 'role:nobody', isSystem: true, isActive: true } : known.groups.get(value);
  if (group === undefined) throw refused('Invalid user group');
  if (!group.isActive) throw refused('User group is deactivated');
  if (onlyRoleGroups !== undefined && !group.isSystem) throw roleGroupRequired(name);
  if (!allows(level, name, group.name))
    throw refused(`'${name}' setting cannot be set to '${group.name}' group`);
  return value;
}

/** @throws ProtocolError BAD_REQUEST that names the first user or group that is not there or not active. */
export function requireKnown(known: KnownReferences, { userIds, groupIds }: NamedReferences): void {
  for (const id of userIds) {
    const user = known.users.get(id);
    if (user === undefined) throw refused(`Invalid user ID: ${id}`);
    if (!user.isActive) throw refused(`User is deactivated: ${id}`);
  }
  for (const id of groupIds) {
    const group = known.groups.get(id);
    if (group === undefined) throw refused(`Invalid user group ID: ${id}`);
    if (!group.isActive) throw refused(`User group is deactivated: ${id}`);
  }
}

/** Everything that values name, which must be known before one of them is planned. */
export function namedIn(values: readonly GroupSettingValue[]): NamedReferences {
  return { userIds: values.flatMap(usersIn), groupIds: values.flatMap(groupsIn) };
}

function allows(level: PermissionLevel, name: PermissionName, groupName: string): boolean {
  const { allowsNobody, allowsEveryone, onlyRoleGroups } = permissionSetting(level, name);
  if (onlyRoleGroups !== undefined) return onlyRoleGroups.includes(groupName as RoleGroupName);
  if (groupName === 'role:internet') return false;
  if (groupName === 'role:nobody') return allowsNobody;
  return groupName !== 'role:everyone' || allowsEveryone;
}

function roleGroupRequired(name: string): ProtocolError {
  return new ProtocolError('SYSTEM_GROUP_REQUIRED', {
    message: `'${name}' must be a system user group.`,
    fields: { setting_name: name },
  });
}
