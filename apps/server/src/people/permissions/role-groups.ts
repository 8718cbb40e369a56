import { type Role, roles } from '../../platform/authentication/roles.js';

interface RoleGroupRow {
  readonly name: string;
  /** Human-readable name. */
  readonly displayName: string;
  readonly description: string;
  /** The role whose users are direct members. `fullmembers` includes only users whose waiting period has passed. */
  readonly role: Role | undefined;
  readonly subgroup: string | undefined;
}

/**
 * The organization's role groups. Each is nested in the next group, except `role:nobody`. A migration creates them:
 * adding a group here needs a new migration.
 */
export const roleGroups = [
  {
    name: 'role:nobody',
    displayName: 'Nobody',
    description: 'Never has members.',
    role: undefined,
    subgroup: undefined,
  },
  {
    name: 'role:owners',
    displayName: 'Owners',
    description: 'All owners.',
    role: roles.owner,
    subgroup: undefined,
  },
  {
    name: 'role:administrators',
    displayName: 'Administrators',
    description: 'All administrators, and owners.',
    role: roles.administrator,
    subgroup: 'role:owners',
  },
  {
    name: 'role:moderators',
    displayName: 'Moderators',
    description: 'All moderators, administrators and owners.',
    role: roles.moderator,
    subgroup: 'role:administrators',
  },
  {
    name: 'role:fullmembers',
    displayName: 'Full members',
    description: 'Members who are no longer new, moderators, administrators and owners.',
    role: roles.member,
    subgroup: 'role:moderators',
  },
  {
    name: 'role:members',
    displayName: 'Members',
    description: 'All users except guests.',
    role: roles.member,
    subgroup: 'role:fullmembers',
  },
  {
    name: 'role:everyone',
    displayName: 'Everyone',
    description: 'All users, including guests.',
    role: roles.guest,
    subgroup: 'role:members',
  },
  {
    name: 'role:internet',
    displayName: 'Everyone on the internet',
    description: 'Everyone, with or without an account.',
    role: undefined,
    subgroup: 'role:everyone',
  },
] as const satisfies readonly RoleGroupRow[];

export type RoleGroupName = (typeof roleGroups)[number]['name'];

/** The only role group that does not include all users of its role. */
export const fullMembersGroup: RoleGroupName = 'role:fullmembers';
