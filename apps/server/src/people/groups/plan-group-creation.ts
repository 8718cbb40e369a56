import type { GroupId, UserId } from '@waxwing/protocol';
import { ascendingIds } from '../permissions/ascending-ids.js';
import type { GroupSettingValue } from '../permissions/group-setting-value.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import {
  type PermissionName,
  permissionNames,
  permissionSetting,
} from '../permissions/permission-settings.js';
import { checkedPermission, requireKnown } from '../permissions/plan-permission.js';
import type { PermissionChange } from './group-change.js';
import type { GroupFacts } from './group-facts.js';
import { checkedName, groupNameTaken } from './group-rules.js';

/** A requested group. */
export interface GroupCreationRequest {
  readonly name: string;
  readonly description: string;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
  readonly permissions: Readonly<Partial<Record<PermissionName<'group'>, GroupSettingValue | undefined>>>;
}

/** A validated group to create. */
export interface PlannedGroup {
  readonly name: string;
  readonly description: string;
  readonly creatorId: UserId;
  readonly memberIds: readonly UserId[];
  readonly subgroupIds: readonly GroupId[];
  /** The permissions to store. All other permissions have their default. */
  readonly permissions: readonly PermissionChange[];
}

/**
 * Validates a requested group.
 * @throws ProtocolError if the request violates a rule.
 */
export function planGroupCreation(facts: GroupFacts, requested: GroupCreationRequest): PlannedGroup {
  const { actor, known, nobodyId } = facts;
  if (!facts.mayCreateGroups) throw insufficientPermission();
  requireKnown(known, { userIds: requested.memberIds, groupIds: [] });
  const name = checkedName(requested.name);
  if (facts.isNameTaken) throw groupNameTaken(name);
  const permissions = permissionNames('group').flatMap((name): PermissionChange[] => {
    const wanted = requested.permissions[name];
    if (wanted !== undefined) {
      return [{ name, value: checkedPermission({ level: 'group', name, nobodyId, known }, wanted) }];
    }
    const isForCreator = permissionSetting('group', name).default === 'creator';
    return isForCreator ? [{ name, value: { directMembers: [actor.id], directSubgroups: [] } }] : [];
  });
  requireKnown(known, { userIds: [], groupIds: requested.subgroupIds });
  return {
    name,
    description: requested.description,
    creatorId: actor.id,
    memberIds: ascendingIds(requested.memberIds),
    subgroupIds: ascendingIds(requested.subgroupIds),
    permissions,
  };
}
