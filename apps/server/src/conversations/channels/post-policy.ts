import type { GroupSettingValue } from '../../people/permissions/group-setting-value.js';
import type { RoleGroupName } from '../../people/permissions/role-groups.js';

const everyone = 1;

/** `stream_post_policy` for legacy clients: only administrators may post. */
export const adminsOnly = 2;

/** The values of `stream_post_policy` for legacy clients. */
const policies: Partial<Record<RoleGroupName, number>> = {
  'role:everyone': everyone,
  'role:administrators': adminsOnly,
  'role:fullmembers': 3,
  'role:moderators': 4,
};

/** The value of `stream_post_policy` for legacy clients. Everyone if no value matches. */
export function postPolicy(value: GroupSettingValue, roleGroups: ReadonlyMap<RoleGroupName, number>): number {
  const [name] = [...roleGroups].find(([, id]) => id === value) ?? [];
  return (name && policies[name]) ?? everyone;
}
