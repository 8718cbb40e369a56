import { refused } from '@waxwing/protocol';
import type { GroupSettingValue, SettingRequest } from '../permissions/group-setting-value.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import { planPermission } from '../permissions/plan-permission.js';
import type { GroupChange, PermissionChange } from './group-change.js';
import type { GroupFacts } from './group-facts.js';
import { checkedName, groupNameTaken, mayManage, requireChangeableGroup } from './group-rules.js';

/** The requested changes to a group; `undefined` keeps the current value. */
export interface GroupUpdateRequest {
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Only `false` is allowed, because deactivation has its own operation. */
  readonly deactivated: boolean | undefined;
  readonly permissions: Readonly<Partial<Record<PermissionName<'group'>, SettingRequest | undefined>>>;
}

/**
 * Validates an update and returns only the fields that change.
 * @throws ProtocolError if the request violates a rule.
 */
export function planGroupUpdate(facts: GroupFacts, requested: GroupUpdateRequest): GroupChange {
  const group = requireChangeableGroup(facts.group);
  if (!mayManage(facts)) throw insufficientPermission();
  const name =
    requested.name === undefined || requested.name === group.name ? undefined : checkedName(requested.name);
  if (name !== undefined && facts.isNameTaken) throw groupNameTaken(name);
  if (requested.deactivated) throw refused('Deactivate a user group with POST /user_groups/{id}/deactivate');
  const { description } = requested;
  return {
    groupId: group.id,
    ...(name === undefined || name === group.name ? {} : { name }),
    ...(description === undefined || description === group.description ? {} : { description }),
    ...(requested.deactivated === undefined || group.isActive ? {} : { isActive: true }),
    permissions: planPermissions(facts, group.permissions, requested.permissions),
  };
}

function planPermissions(
  { nobodyId, known }: GroupFacts,
  current: Readonly<Record<PermissionName<'group'>, GroupSettingValue>>,
  requests: GroupUpdateRequest['permissions'],
): PermissionChange[] {
  return Object.entries(requests).flatMap(([key, requested]) => {
    const name = key as PermissionName<'group'>;
    if (requested === undefined) return [];
    const value = planPermission(
      { level: 'group', name, current: current[name], nobodyId, known },
      requested,
    );
    return value === undefined ? [] : [{ name, value }];
  });
}
