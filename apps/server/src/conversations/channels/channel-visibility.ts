import type { ChannelId, UserId } from '@waxwing/protocol';
import { isAmong } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { PermissionName } from '../../people/permissions/permission-settings.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { ChannelAccess } from './channel-access.js';
import type { Channel } from './channel-store.js';

/** The permissions that make a private channel visible. If a permission has no stored row, no user has it. */
export const visibilityPermissions = [
  'can_add_subscribers_group',
  'can_administer_channel_group',
  'can_subscribe_group',
] as const satisfies PermissionName<'channel'>[];

export type VisibilityPermission = (typeof visibilityPermissions)[number];

/** The part of {@link ChannelAccess} that determines visibility and read access. */
export type ChannelVisibility = Omit<ChannelAccess, 'held'> & {
  readonly held: ReadonlySet<VisibilityPermission>;
  /** Whether the user was subscribed and has unsubscribed. */
  readonly hasLeft: boolean;
};

/**
 * Looks up whether a user can see and read each channel, in two statements. `ids` limits the reading of the user's
 * permissions to these channels. Omit it if `channels` contains all channels of the organization.
 */
export async function readChannelVisibility(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  channels: readonly Channel[],
  ids?: readonly ChannelId[],
): Promise<ChannelVisibility[]> {
  const subscriptions = await db
    .selectFrom('subscriptions')
    .select(['channel_id', 'is_active'])
    .where('user_id', '=', actor.id)
    .execute();
  const active = new Map(subscriptions.map(({ channel_id, is_active }) => [channel_id, is_active === 1]));
  // Guests never have these permissions, regardless of their groups.
  const held = actor.role === roles.guest ? new Map() : await readHeld(db, actor.id, ids);
  return channels.map((channel) => ({
    actor,
    channel,
    isSubscribed: active.get(channel.id) === true,
    hasLeft: active.get(channel.id) === false,
    held: held.get(channel.id) ?? new Set(),
  }));
}

/**
 * Reads the visibility permissions that a user has in each channel. Walks up from the user's groups to all groups
 * that contain them.
 */
async function readHeld(
  db: Kysely<ServerTables>,
  userId: UserId,
  ids: readonly ChannelId[] | undefined,
): Promise<Map<number, Set<VisibilityPermission>>> {
  const isWanted = ids === undefined ? sql`1 = 1` : isAmong(db, 'permissions.owner_id', 'integer', ids);
  const { rows } = await sql<{ owner_id: number; name: VisibilityPermission }>`
    with recursive reached(group_id) as (
      select group_id from user_group_members where user_id = ${userId}
      union
      select nested.group_id from reached join user_group_subgroups as nested on nested.subgroup_id = reached.group_id
    )
    select permissions.owner_id, permissions.name
    from permissions join reached on reached.group_id = permissions.group_id
    where permissions.level = 'channel' and ${isWanted}
      and permissions.name in (${sql.join(visibilityPermissions)})`.execute(db);
  const held = new Map<number, Set<VisibilityPermission>>();
  for (const { owner_id, name } of rows) {
    const names = held.get(owner_id) ?? new Set();
    names.add(name);
    held.set(owner_id, names);
  }
  return held;
}
