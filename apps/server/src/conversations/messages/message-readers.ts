import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { type Role, roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import type { Channel } from '../channels/channel-store.js';

type Db = Kysely<ServerTables>;

/** The active users who read a channel: `readsChannel` for all users at once, in one statement. */
export async function readersIn(db: Db, channel: Channel): Promise<PermissionHolder[]> {
  const { id, isPrivate, isWebPublic } = channel;
  const members = sql<boolean>`users.role <> ${roles.guest}`;
  const rows = await db
    .selectFrom('users')
    .select(['users.id', 'users.role'])
    .where('users.is_active', '=', 1)
    .$if(!isWebPublic, (query) =>
      query.where(sql<boolean>`(
        users.id in (select user_id from subscriptions where channel_id = ${id} and is_active = 1)
        or (${members} ${isPrivate ? sql`and users.id in (${usersWhoMayJoin(id)})` : sql``})
      )`),
    )
    .orderBy('users.id')
    .execute();
  return rows.map(({ id, role }) => ({ id, role: role as Role }));
}

/** A subquery for the users that the channel's stored permissions let in. Empty if none are stored. */
function usersWhoMayJoin(channelId: ChannelId) {
  return sql`
    select user_id from (
      with recursive reached(group_id) as (
        select group_id from permissions
        where level = 'channel' and owner_id = ${channelId}
          and name in ('can_subscribe_group', 'can_add_subscribers_group')
        union
        select nested.subgroup_id
        from reached join user_group_subgroups as nested on nested.group_id = reached.group_id
      )
      select member.user_id from reached join user_group_members as member on member.group_id = reached.group_id
    ) as joiners`;
}

/** The active users subscribed to a channel, in ascending order. */
export async function subscribersIn(db: Db, channelId: ChannelId): Promise<UserId[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .where('channel_id', '=', channelId)
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .select('user_id')
    .orderBy('user_id')
    .execute();
  return rows.map(({ user_id }) => user_id);
}

/** A subquery for the subscribers of a channel, including deactivated users. */
export function usersInChannel(db: Db, channelId: ChannelId) {
  return db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', channelId)
    .where('is_active', '=', 1);
}

/** All copies of a message: flags by user id. */
export async function copiesOfMessage(db: Db, messageId: MessageId): Promise<ReadonlyMap<UserId, number>> {
  const rows = await db
    .selectFrom('user_messages')
    .select(['user_id', 'flags'])
    .where('message_id', '=', messageId)
    .execute();
  return new Map(rows.map(({ user_id, flags }) => [user_id, flags]));
}

/** Filters users by whether they have a copy of any of the messages. */
export async function holdersAmong(
  db: Db,
  userIds: readonly UserId[],
  messageIds: readonly MessageId[],
): Promise<UserId[]> {
  const rows = await db
    .selectFrom('user_messages')
    .select('user_id')
    .distinct()
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where('message_id', 'in', amongNumbers(db, messageIds))
    .execute();
  return rows.map(({ user_id }) => user_id);
}
