import type { GroupSettingValue } from '../permissions/group-setting-value.js';
import type { RoleGroupName } from '../permissions/role-groups.js';

const everyone = 1;

/** The integer by which older clients know that administrators alone may post. */
export const adminsOnly = 2;

/** The integers by which older clients know who may post. */
const policies: Partial<Record<RoleGroupName, number>> = {
  'role:everyone': everyone,
  'role:administrators': adminsOnly,
  'role:fullmembers': 3,
  'role:moderators': 4,
};

/** Who may post, as older clients read it; everyone where they have no integer for it. */
export function postPolicy(value: GroupSettingValue, roleGroups: ReadonlyMap<RoleGroupName, number>): number {
  const [name] = [...roleGroups].find(([, id]) => id === value) ?? [];
  return (name && policies[name]) ?? everyone;
}
