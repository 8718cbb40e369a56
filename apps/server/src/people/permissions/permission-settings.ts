import type { RoleGroupName } from './role-groups.js';

/** The scope of a permission: the whole organization, one channel, or one group. */
export type PermissionLevel = 'realm' | 'channel' | 'group';

/** The definition of a permission. */
export interface PermissionSetting {
  /**
   * The value if no value is stored. `creator` is the user who creates the channel or group, and is stored as a value
   * at creation.
   */
  readonly default: RoleGroupName | 'creator';
  /** The default for role groups, if different. */
  readonly defaultForRoleGroups?: RoleGroupName;
  readonly allowsNoMembers: boolean;
  /** If false, guests never have the permission, regardless of their groups. */
  readonly allowsEveryone: boolean;
  /** The allowed role groups, if the permission accepts only role groups. */
  readonly onlyRoleGroups?: readonly RoleGroupName[];
  /** The feature level that introduced the permission. */
  readonly since: number;
}

export type PermissionSettings = Readonly<Record<string, PermissionSetting>>;

const membersAtMost = { default: 'role:members', allowsNoMembers: true, allowsEveryone: false } as const;
const everyone = { default: 'role:everyone', allowsNoMembers: true, allowsEveryone: true } as const;
const administrators = {
  default: 'role:administrators',
  allowsNoMembers: true,
  allowsEveryone: false,
} as const;
const noMembers = { default: 'role:nobody', allowsNoMembers: true, allowsEveryone: true } as const;

/** The permissions of the organization. */
export const realmPermissions = {
  can_access_all_users_group: {
    default: 'role:everyone',
    allowsNoMembers: false,
    allowsEveryone: true,
    onlyRoleGroups: ['role:everyone', 'role:members'],
    since: 225,
  },
  can_add_custom_emoji_group: { ...membersAtMost, since: 307 },
  can_add_subscribers_group: { ...membersAtMost, since: 341 },
  can_create_bots_group: { ...membersAtMost, since: 344 },
  can_create_groups: { ...membersAtMost, since: 299 },
  can_create_private_channel_group: { ...membersAtMost, since: 266 },
  can_create_public_channel_group: { ...membersAtMost, since: 264 },
  can_create_web_public_channel_group: {
    default: 'role:owners',
    allowsNoMembers: true,
    allowsEveryone: false,
    onlyRoleGroups: ['role:moderators', 'role:administrators', 'role:owners', 'role:nobody'],
    since: 280,
  },
  can_create_write_only_bots_group: { ...membersAtMost, since: 344 },
  can_delete_any_message_group: { ...administrators, since: 281 },
  can_delete_own_message_group: { ...everyone, since: 291 },
  can_invite_users_group: { ...membersAtMost, since: 321 },
  can_manage_all_groups: {
    default: 'role:owners',
    allowsNoMembers: false,
    allowsEveryone: false,
    since: 299,
  },
  can_manage_billing_group: {
    default: 'role:administrators',
    allowsNoMembers: false,
    allowsEveryone: false,
    since: 363,
  },
  can_mention_many_users_group: {
    default: 'role:administrators',
    allowsNoMembers: true,
    allowsEveryone: true,
    since: 352,
  },
  can_move_messages_between_channels_group: { ...membersAtMost, since: 310 },
  can_move_messages_between_topics_group: { ...everyone, since: 316 },
  can_resolve_topics_group: { ...everyone, since: 367 },
  can_set_delete_message_policy_group: {
    default: 'role:moderators',
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 407,
  },
  can_set_topics_policy_group: {
    default: 'role:members',
    allowsNoMembers: true,
    allowsEveryone: true,
    since: 392,
  },
  can_summarize_topics_group: { ...everyone, since: 350 },
  create_multiuse_invite_group: { ...administrators, since: 209 },
  direct_message_initiator_group: { ...everyone, since: 270 },
  direct_message_permission_group: { ...everyone, since: 270 },
  workplace_users_group: { ...everyone, since: 477 },
} as const satisfies PermissionSettings;

/** The permissions of a channel. */
const channelPermissions = {
  can_add_subscribers_group: {
    default: 'role:nobody',
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 342,
  },
  can_administer_channel_group: {
    default: 'creator',
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 325,
  },
  can_create_topic_group: { ...everyone, since: 441 },
  can_delete_any_message_group: { ...noMembers, since: 407 },
  can_delete_own_message_group: { ...noMembers, since: 407 },
  can_move_messages_out_of_channel_group: { ...noMembers, since: 396 },
  can_move_messages_within_channel_group: { ...noMembers, since: 396 },
  can_remove_subscribers_group: {
    default: 'role:administrators',
    allowsNoMembers: true,
    allowsEveryone: true,
    since: 142,
  },
  can_resolve_topics_group: { ...noMembers, since: 402 },
  can_send_message_group: { ...everyone, since: 333 },
  can_subscribe_group: { default: 'role:nobody', allowsNoMembers: true, allowsEveryone: false, since: 357 },
} as const satisfies PermissionSettings;

const forRoleGroups = { defaultForRoleGroups: 'role:nobody' } as const;

/** The permissions of a group. */
export const groupPermissions = {
  can_add_members_group: {
    default: 'creator',
    ...forRoleGroups,
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 305,
  },
  can_join_group: {
    default: 'role:nobody',
    ...forRoleGroups,
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 301,
  },
  can_leave_group: { ...everyone, ...forRoleGroups, since: 308 },
  can_manage_group: {
    default: 'creator',
    ...forRoleGroups,
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 283,
  },
  can_mention_group: { ...everyone, ...forRoleGroups, since: 191 },
  can_remove_members_group: {
    default: 'role:nobody',
    ...forRoleGroups,
    allowsNoMembers: true,
    allowsEveryone: false,
    since: 324,
  },
} as const satisfies PermissionSettings;

/** All permissions, by level. */
export const permissionSettings = {
  realm: realmPermissions,
  channel: channelPermissions,
  group: groupPermissions,
} as const satisfies Record<PermissionLevel, PermissionSettings>;

/** The name of a permission at one of these levels. */
export type PermissionName<Level extends PermissionLevel = PermissionLevel> = {
  [Each in PermissionLevel]: keyof (typeof permissionSettings)[Each] & string;
}[Level];

/** Returns the definition of a permission. @throws Error if the level has no such permission. */
export function permissionSetting(level: PermissionLevel, name: PermissionName): PermissionSetting {
  const row = (permissionSettings[level] as PermissionSettings)[name];
  if (row === undefined) throw new Error(`there is no permission ${name} of a ${level}`);
  return row;
}

/** Returns the names of a level's permissions, in order. */
export function permissionNames<Level extends PermissionLevel>(level: Level): PermissionName<Level>[] {
  return Object.keys(permissionSettings[level]) as PermissionName<Level>[];
}
