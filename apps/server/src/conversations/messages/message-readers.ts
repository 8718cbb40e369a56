import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, inPieces, isAmong } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { Role } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';

type Db = Kysely<ServerTables>;

/** Messages per statement. Bounds the rows that PostgreSQL sorts. */
const messagesAtOnce = 500;

/** Returns which of these users are active, with their roles, in ascending order. */
export async function activeAmong(db: Db, userIds: readonly UserId[]): Promise<PermissionHolder[]> {
  if (userIds.length === 0) return [];
  const rows = await db
    .selectFrom('users')
    .select(['id', 'role'])
    .where('id', 'in', amongNumbers(db, userIds))
    .where('is_active', '=', 1)
    .orderBy('id')
    .execute();
  return rows.map(({ id, role }) => ({ id, role: role as Role }));
}

/** Returns the active users with a copy of any of the messages, in ascending order. */
export async function holdersOf(db: Db, messageIds: readonly MessageId[]): Promise<PermissionHolder[]> {
  const holders = new Set<UserId>();
  for (let start = 0; start < messageIds.length; start += messagesAtOnce) {
    const some = messageIds.slice(start, start + messagesAtOnce);
    const rows = await db
      .selectFrom('user_messages')
      .select('user_id')
      .distinct()
      .where('message_id', 'in', amongNumbers(db, some))
      .execute();
    for (const { user_id } of rows) holders.add(user_id);
  }
  return activeAmong(db, [...holders]);
}

/** Returns the active users subscribed to a channel, in ascending order. */
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

/** Returns a subquery for the subscribers of a channel, including deactivated users. */
export function usersInChannel(db: Db, channelId: ChannelId) {
  return db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', channelId)
    .where('is_active', '=', 1);
}

/**
 * Returns the flags of each user's copy of a message, ordered by user id. `userIds` limits the result to these users.
 */
export async function copiesOfMessage(
  db: Db,
  messageId: MessageId,
  userIds?: readonly UserId[],
): Promise<ReadonlyMap<UserId, number>> {
  const rows = await db
    .selectFrom('user_messages')
    .select(['user_id', 'flags'])
    .where('message_id', '=', messageId)
    .$if(userIds !== undefined, (query) => query.where(isAmong(db, 'user_id', 'integer', userIds ?? [])))
    .orderBy('user_id')
    .execute();
  return new Map(rows.map(({ user_id, flags }) => [user_id, flags]));
}

/** Returns the users in the list who have a copy of any of the messages. */
export async function holdersAmong(
  db: Db,
  userIds: readonly UserId[],
  messageIds: readonly MessageId[],
): Promise<UserId[]> {
  const holders = new Set<UserId>();
  await inPieces(db, messageIds, async (piece) => {
    const rows = await db
      .selectFrom('user_messages')
      .select('user_id')
      .distinct()
      .where('user_id', 'in', amongNumbers(db, userIds))
      .where('message_id', 'in', amongNumbers(db, piece))
      .execute();
    for (const { user_id } of rows) holders.add(user_id);
  });
  return [...holders];
}
