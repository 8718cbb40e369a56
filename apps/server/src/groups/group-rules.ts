import { type ProtocolError, refused, type UserId } from '@waxwing/protocol';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { GroupFacts } from './group-facts.js';
import type { Group } from './group-record.js';

const maximumNameCharacters = 100;
/** What would be read as something else in a mention, or as a group by role. */
const reservedBeginnings = ['@', 'role:', 'user:', 'stream:', 'channel:'];

type Held = Pick<GroupFacts, 'mayManageAllGroups' | 'held'>;

/** Whether the actor may change anything of the group. */
export function mayManage({ mayManageAllGroups, held }: Held): boolean {
  return mayManageAllGroups || held.has('can_manage_group');
}

/** Whether the actor may put these users into the group; to put in oneself less is needed. */
export function mayAddMembers(facts: Held & Pick<GroupFacts, 'actor'>, userIds: readonly UserId[]): boolean {
  return (
    mayManage(facts) ||
    facts.held.has('can_add_members_group') ||
    (isOnly(userIds, facts.actor.id) && facts.held.has('can_join_group'))
  );
}

/** Whether the actor may take these users out of the group; to take out oneself less is needed. */
export function mayRemoveMembers(
  facts: Held & Pick<GroupFacts, 'actor'>,
  userIds: readonly UserId[],
): boolean {
  return (
    mayManage(facts) ||
    facts.held.has('can_remove_members_group') ||
    (isOnly(userIds, facts.actor.id) && facts.held.has('can_leave_group'))
  );
}

/**
 * A group that people may change.
 * @throws ProtocolError BAD_REQUEST for one that does not exist, and for groups by role.
 */
export function requireChangeableGroup(group: Group | undefined): Group {
  if (group === undefined) throw refused('Invalid user group');
  if (group.isSystem) throw insufficientPermission();
  return group;
}

/**
 * A group's name without the blanks around it.
 * @throws ProtocolError BAD_REQUEST where it is empty, longer than 100 characters, or begins as other things do.
 */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("User group name can't be empty!");
  if ([...trimmed].length > maximumNameCharacters) {
    throw refused(`User group name cannot exceed ${maximumNameCharacters} characters.`);
  }
  const beginning = reservedBeginnings.find((each) => trimmed.startsWith(each));
  if (beginning !== undefined) throw refused(`User group name cannot start with '${beginning}'.`);
  return trimmed;
}

export function groupNameTaken(name: string): ProtocolError {
  return refused(`User group '${name}' already exists.`);
}

function isOnly(userIds: readonly UserId[], id: UserId): boolean {
  return userIds.every((userId) => userId === id);
}
