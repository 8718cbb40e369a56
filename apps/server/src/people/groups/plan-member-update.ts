import { type GroupId, refused, type UserId } from '@waxwing/protocol';
import { ascendingIds } from '../permissions/ascending-ids.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import { requireKnown } from '../permissions/plan-permission.js';
import type { GroupChange } from './group-change.js';
import type { GroupFacts } from './group-facts.js';
import { mayAddMembers, mayManage, mayRemoveMembers, requireChangeableGroup } from './group-rules.js';

/** The requested additions to a group and removals from it. */
export interface MemberUpdateRequest {
  readonly add: readonly UserId[];
  readonly remove: readonly UserId[];
  readonly addSubgroups: readonly GroupId[];
  readonly removeSubgroups: readonly GroupId[];
}

/**
 * Validates a change of members and subgroups. The group may be deactivated.
 * @throws ProtocolError if the request violates a rule.
 */
export function planMemberUpdate(facts: GroupFacts, requested: MemberUpdateRequest): GroupChange {
  const group = requireChangeableGroup(facts.group);
  const [add, remove] = [ascendingIds(requested.add), ascendingIds(requested.remove)];
  const [addSubgroups, removeSubgroups] = [
    ascendingIds(requested.addSubgroups),
    ascendingIds(requested.removeSubgroups),
  ];
  if (add.length > 0 && !mayAddMembers(facts, add)) throw insufficientPermission();
  if (remove.length > 0 && !mayRemoveMembers(facts, remove)) throw insufficientPermission();
  if (addSubgroups.length + removeSubgroups.length > 0 && !mayManage(facts)) throw insufficientPermission();
  const { known } = facts;
  requireKnown(known, { userIds: add, groupIds: addSubgroups });
  const { memberIds: members } = facts;
  for (const id of add) {
    if (members.has(id)) throw refused(`User ${id} is already a member of this group`);
  }
  for (const id of remove) {
    if (!members.has(id)) throw refused(`There is no member '${id}' in this user group`);
  }
  const subgroups = new Set(group.subgroupIds);
  for (const id of addSubgroups) {
    if (subgroups.has(id)) throw refused(`User group ${id} is already a subgroup of this group.`);
    if (facts.supergroupIds.has(id)) {
      throw refused(`User group ${group.id} is already a subgroup of one of the passed subgroups.`);
    }
  }
  for (const id of removeSubgroups) {
    if (!subgroups.has(id)) throw refused(`User group ${id} is not a subgroup of this group.`);
  }
  return {
    groupId: group.id,
    addedMembers: add,
    removedMembers: remove,
    addedSubgroups: addSubgroups,
    removedSubgroups: removeSubgroups,
  };
}
