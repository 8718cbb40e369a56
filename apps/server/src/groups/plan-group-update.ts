import { refused } from '@waxwing/protocol';
import type { GroupSettingValue, SettingWish } from '../permissions/group-setting-value.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { PermissionName } from '../permissions/permission-settings.js';
import { planPermission } from '../permissions/plan-permission.js';
import type { GroupChange, PermissionChange } from './group-change.js';
import type { GroupFacts } from './group-facts.js';
import { checkedName, groupNameTaken, mayManage, requireChangeableGroup } from './group-rules.js';

/** The requested changes of a group; `undefined` keeps the current value. */
export interface GroupUpdateWish {
  readonly name: string | undefined;
  readonly description: string | undefined;
  /** Only `false` is allowed here. */
  readonly deactivated: boolean | undefined;
  readonly permissions: Readonly<Partial<Record<PermissionName<'group'>, SettingWish | undefined>>>;
}

/**
 * Validates an update and returns the fields that change, none if all are the same already.
 * @throws ProtocolError with the reason for a refusal.
 */
export function planGroupUpdate(facts: GroupFacts, wish: GroupUpdateWish): GroupChange {
  const group = requireChangeableGroup(facts.group);
  if (!mayManage(facts)) throw insufficientPermission();
  const name = wish.name === undefined || wish.name === group.name ? undefined : checkedName(wish.name);
  if (name !== undefined && facts.isNameTaken) throw groupNameTaken(name);
  if (wish.deactivated) throw refused('Deactivate a user group with POST /user_groups/{id}/deactivate');
  const { description } = wish;
  return {
    groupId: group.id,
    ...(name === undefined || name === group.name ? {} : { name }),
    ...(description === undefined || description === group.description ? {} : { description }),
    ...(wish.deactivated === undefined || group.isActive ? {} : { isActive: true }),
    permissions: planPermissions(facts, group.permissions, wish.permissions),
  };
}

function planPermissions(
  { nobodyId, known }: GroupFacts,
  current: Readonly<Record<PermissionName<'group'>, GroupSettingValue>>,
  wishes: GroupUpdateWish['permissions'],
): PermissionChange[] {
  return Object.entries(wishes).flatMap(([key, wish]) => {
    const name = key as PermissionName<'group'>;
    if (wish === undefined) return [];
    const value = planPermission({ level: 'group', name, current: current[name], nobodyId, known }, wish);
    return value === undefined ? [] : [{ name, value }];
  });
}
