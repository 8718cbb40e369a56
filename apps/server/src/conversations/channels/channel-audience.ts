import type { ChannelId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { membersOfGroups } from '../../people/permissions/nested-membership.js';
import { isAdministrator } from '../../platform/authentication/require-administrator.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { Channel } from './channel-store.js';
import { visibilityPermissions } from './channel-visibility.js';

/** The users who may get events about channels: the input of {@link readersOfChannel}. */
export interface ChannelAudience {
  /** All active users. */
  readonly people: readonly { readonly id: UserId; readonly role: Role }[];
  /** Active subscribers, in ascending order. */
  subscribersOf(channelId: ChannelId): readonly UserId[];
  /** Members of the groups that can see a private channel. */
  holdersOf(channelId: ChannelId): ReadonlySet<UserId>;
}

/** Reads the audience for these channels, in four statements. */
export async function readAudience(
  db: Kysely<ServerTables>,
  channelIds: readonly ChannelId[],
): Promise<ChannelAudience> {
  const people = await db.selectFrom('users').select(['id', 'role']).where('is_active', '=', 1).execute();
  const subscribers = await readSubscribers(db, channelIds);
  const holders = await readHolders(db, channelIds);
  return {
    people: people.map(({ id, role }) => ({ id, role: role as Role })),
    subscribersOf: (channelId) => subscribers.get(channelId) ?? [],
    holdersOf: (channelId) => holders.get(channelId) ?? new Set(),
  };
}

/** The ids of all active users who can see the channel: `seesChannel` for all users at once. */
export function readersOfChannel(audience: ChannelAudience, channel: Channel): UserId[] {
  const subscribers = new Set(audience.subscribersOf(channel.id));
  const holders = audience.holdersOf(channel.id);
  return audience.people
    .filter(({ id, role }) => {
      if (channel.isWebPublic || subscribers.has(id)) return true;
      if (role === roles.guest) return false;
      return !channel.isPrivate || isAdministrator(role) || holders.has(id);
    })
    .map(({ id }) => id);
}

/** The active subscribers of each channel, in ascending order. Channels without any are left out. */
export async function readSubscribers(
  db: Kysely<ServerTables>,
  channelIds: readonly ChannelId[],
): Promise<ReadonlyMap<ChannelId, UserId[]>> {
  const found = new Map<ChannelId, UserId[]>();
  if (channelIds.length === 0) return found;
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .where('channel_id', 'in', amongNumbers(db, channelIds))
    .select(['channel_id', 'user_id'])
    .orderBy('user_id')
    .execute();
  for (const { channel_id, user_id } of rows) {
    const ids = found.get(channel_id) ?? [];
    ids.push(user_id);
    found.set(channel_id, ids);
  }
  return found;
}

async function readHolders(
  db: Kysely<ServerTables>,
  channelIds: readonly ChannelId[],
): Promise<ReadonlyMap<number, ReadonlySet<UserId>>> {
  if (channelIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('permissions')
    .where('level', '=', 'channel')
    .where('owner_id', 'in', amongNumbers(db, channelIds))
    // A permission without a row has its default: the channel's creator, or no user.
    .where('name', 'in', visibilityPermissions)
    .select(['owner_id', 'group_id'])
    .execute();
  const members = await membersOfGroups(db, ascendingIds(rows.map(({ group_id }) => group_id)));
  const holders = new Map<number, Set<UserId>>();
  for (const { owner_id, group_id } of rows) {
    const ids = holders.get(owner_id) ?? new Set();
    for (const id of members.get(group_id) ?? []) ids.add(id);
    holders.set(owner_id, ids);
  }
  return holders;
}
