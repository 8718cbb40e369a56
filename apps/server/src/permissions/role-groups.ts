import { type Role, roles } from './roles.js';

interface RoleGroupRow {
  readonly name: string;
  /** As people read it. */
  readonly displayName: string;
  readonly description: string;
  /** Users of this role are its direct members; of `fullmembers` only those who have been here for long enough. */
  readonly role: Role | undefined;
  readonly subgroup: string | undefined;
}

/**
 * The organisation's groups by role, each of which is nested in the next one but for `role:nobody`. They are made by a
 * migration: one that is added here needs a migration of its own.
 */
export const roleGroups = [
  {
    name: 'role:nobody',
    displayName: 'Nobody',
    description: 'Has no members, ever.',
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
    description: 'All moderators, and whoever is above them.',
    role: roles.moderator,
    subgroup: 'role:administrators',
  },
  {
    name: 'role:fullmembers',
    displayName: 'Full members',
    description: 'Members who are not new here, and whoever is above them.',
    role: roles.member,
    subgroup: 'role:moderators',
  },
  {
    name: 'role:members',
    displayName: 'Members',
    description: 'Everybody but guests.',
    role: roles.member,
    subgroup: 'role:fullmembers',
  },
  {
    name: 'role:everyone',
    displayName: 'Everyone',
    description: 'Everybody with an account, guests too.',
    role: roles.guest,
    subgroup: 'role:members',
  },
  {
    name: 'role:internet',
    displayName: 'Everyone on the internet',
    description: 'Everybody, with an account or without one.',
    role: undefined,
    subgroup: 'role:everyone',
  },
] as const satisfies readonly RoleGroupRow[];

export type RoleGroupName = (typeof roleGroups)[number]['name'];

/** The one role group whose members are not all users of its role. */
export const fullMembersGroup: RoleGroupName = 'role:fullmembers';
