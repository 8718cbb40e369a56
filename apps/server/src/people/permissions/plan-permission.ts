import { type GroupId, ProtocolError, refused } from '@waxwing/protocol';
import {
  collapse,
  type GroupSettingValue,
  groupsIn,
  type SettingRequest,
  sameValue,
  usersIn,
} from './group-setting-value.js';
import type { KnownReferences, NamedReferences } from './known-references.js';
import { type PermissionLevel, type PermissionName, permissionSetting } from './permission-settings.js';
import type { RoleGroupName } from './role-groups.js';

/** A permission to change, and the facts that the rules for the change need. */
export interface PermissionChangeFacts {
  readonly level: PermissionLevel;
  readonly name: PermissionName;
  /** The current value, collapsed. */
  readonly current: GroupSettingValue;
  readonly nobodyId: GroupId;
  readonly known: KnownReferences;
}

/**
 * Validates a change and returns the collapsed value to store; `undefined` if the value does not change.
 * @throws ProtocolError EXPECTATION_MISMATCH with `field_name` if `old` is not the current value, and the errors of
 * {@link checkedPermission}.
 */
export function planPermission(
  facts: PermissionChangeFacts,
  requested: SettingRequest,
): GroupSettingValue | undefined {
  const { current, nobodyId } = facts;
  if (requested.old !== undefined && !sameValue(collapse(requested.old, nobodyId), current)) {
    throw new ProtocolError('EXPECTATION_MISMATCH', {
      message: `The current value of ${facts.name} is not the expected value`,
      fields: { field_name: 'old' },
    });
  }
  if (sameValue(collapse(requested.new, nobodyId), current)) return undefined;
  return checkedPermission(facts, requested.new);
}

/**
 * Validates a permission's value and returns it collapsed.
 * @throws ProtocolError SYSTEM_GROUP_REQUIRED with `setting_name` if only role groups are allowed; BAD_REQUEST for
 * unknown or deactivated groups and users, and for groups that the permission does not allow.
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
  // An empty value collapses to `nobodyId`, which is not among the referenced groups.
  const group =
    value === nobodyId ? { name: 'role:nobody', isSystem: true, isActive: true } : known.groups.get(value);
  if (group === undefined) throw refused('Invalid user group');
  if (!group.isActive) throw refused('User group is deactivated');
  if (onlyRoleGroups !== undefined && !group.isSystem) throw roleGroupRequired(name);
  if (!allows(level, name, group.name))
    throw refused(`'${name}' setting cannot be set to '${group.name}' group`);
  return value;
}

/**
 * Checks that these users and groups exist and are active. @throws ProtocolError BAD_REQUEST for the first that is not.
 */
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

/** Collects all users and groups in these values, so that they can be read before the values are validated. */
export function namedIn(values: readonly GroupSettingValue[]): NamedReferences {
  return { userIds: values.flatMap(usersIn), groupIds: values.flatMap(groupsIn) };
}

function allows(level: PermissionLevel, name: PermissionName, groupName: string): boolean {
  const { allowsNoMembers, allowsEveryone, onlyRoleGroups } = permissionSetting(level, name);
  if (onlyRoleGroups !== undefined) return onlyRoleGroups.includes(groupName as RoleGroupName);
  if (groupName === 'role:internet') return false;
  if (groupName === 'role:nobody') return allowsNoMembers;
  return groupName !== 'role:everyone' || allowsEveryone;
}

function roleGroupRequired(name: string): ProtocolError {
  return new ProtocolError('SYSTEM_GROUP_REQUIRED', {
    message: `'${name}' must be a system user group.`,
    fields: { setting_name: name },
  });
}
