import { type ProtocolError, refused, type UserId } from '@waxwing/protocol';
import { nameProblem } from '../../platform/names/name-problem.js';
import { insufficientPermission } from '../permissions/insufficient-permission.js';
import type { GroupFacts } from './group-facts.js';
import type { Group } from './group-record.js';

const maximumNameCharacters = 100;
/** Prefixes that have another meaning in mentions, and the prefix of role groups. */
const reservedBeginnings = ['@', 'role:', 'user:', 'stream:', 'channel:'];

type Held = Pick<GroupFacts, 'mayManageAllGroups' | 'held'>;

/** Returns whether the actor can manage the group. */
export function mayManage({ mayManageAllGroups, held }: Held): boolean {
  return mayManageAllGroups || held.has('can_manage_group');
}

/** Returns whether the actor can add these users. To join a group themselves, users need only `can_join_group`. */
export function mayAddMembers(facts: Held & Pick<GroupFacts, 'actor'>, userIds: readonly UserId[]): boolean {
  return (
    mayManage(facts) ||
    facts.held.has('can_add_members_group') ||
    (isOnly(userIds, facts.actor.id) && facts.held.has('can_join_group'))
  );
}

/** Returns whether the actor can remove these users. To leave a group themselves, users need only `can_leave_group`. */
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
 * Returns the group if users can change it.
 * @throws ProtocolError BAD_REQUEST if the group does not exist or is a role group.
 */
export function requireChangeableGroup(group: Group | undefined): Group {
  if (group === undefined) throw refused('Invalid user group');
  if (group.isSystem) throw insufficientPermission();
  return group;
}

/**
 * Validates a group name and returns it trimmed.
 * @throws ProtocolError BAD_REQUEST if the name is empty, longer than 100 characters, begins with a reserved prefix,
 * or has a {@link nameProblem}.
 */
export function checkedName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '') throw refused("User group name can't be empty!");
  if ([...trimmed].length > maximumNameCharacters) {
    throw refused(`User group name cannot exceed ${maximumNameCharacters} characters.`);
  }
  const beginning = reservedBeginnings.find((each) => trimmed.startsWith(each));
  if (beginning !== undefined) throw refused(`User group name cannot start with '${beginning}'.`);
  const problem = nameProblem('user group name', trimmed);
  if (problem !== undefined) throw refused(problem);
  return trimmed;
}

export function groupNameTaken(name: string): ProtocolError {
  return refused(`User group '${name}' already exists.`);
}

function isOnly(userIds: readonly UserId[], id: UserId): boolean {
  return userIds.every((userId) => userId === id);
}
