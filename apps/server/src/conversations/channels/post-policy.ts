import type { GroupSettingValue } from '../../people/permissions/group-setting-value.js';
import type { RoleGroupName } from '../../people/permissions/role-groups.js';

const everyone = 1;

/** The value of `stream_post_policy` (legacy clients) that allows only administrators to post. */
export const adminsOnly = 2;

/** The values of `stream_post_policy` (legacy clients) by role group. */
const policies: Partial<Record<RoleGroupName, number>> = {
  'role:everyone': everyone,
  'role:administrators': adminsOnly,
  'role:fullmembers': 3,
  'role:moderators': 4,
};

/**
 * Returns the value of `stream_post_policy` for legacy clients. Falls back to the value for everyone if no legacy
 * value matches.
 */
export function postPolicy(value: GroupSettingValue, roleGroups: ReadonlyMap<RoleGroupName, number>): number {
  const [name] = [...roleGroups].find(([, id]) => id === value) ?? [];
  return (name && policies[name]) ?? everyone;
}
