import { type Role, roles } from './roles.js';

interface RoleGroupRow {
  readonly name: string;
  /** Name for people. */
  readonly displayName: string;
  readonly description: string;
  /** Users with this role are direct members. For `fullmembers`, only those after the waiting period. */
  readonly role: Role | undefined;
  readonly subgroup: string | undefined;
}

/**
 * The organization's role groups. Each is nested in the next one, except `role:nobody`. A migration creates them:
 * adding one here needs a new migration.
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

/** The only role group that excludes some users of its role. */
export const fullMembersGroup: RoleGroupName = 'role:fullmembers';
