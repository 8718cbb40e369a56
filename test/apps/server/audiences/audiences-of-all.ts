import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { Channel } from '#server/conversations/channels/channel-store.js';
import { membersOfGroups } from '#server/people/permissions/nested-membership.js';
import type { ServerTables } from '#server/tables.js';

// The oracle: computes audiences by reading all users, all subscribers and all group members.

type Db = Kysely<ServerTables>;
const guest = 600;

function activeUsers(db: Db) {
  return db.selectFrom('users').select(['id', 'role']).where('is_active', '=', 1).orderBy('id').execute();
}

async function subscribersOf(db: Db, channelId: ChannelId): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', channelId)
    .where('is_active', '=', 1)
    .execute();
  return new Set(rows.map(({ user_id }) => user_id));
}

async function holdersOf(
  db: Db,
  channelId: ChannelId,
  names: readonly string[],
): Promise<ReadonlySet<UserId>> {
  const rows = await db
    .selectFrom('permissions')
    .select('group_id')
    .where('level', '=', 'channel')
    .where('owner_id', '=', channelId)
    .where('name', 'in', names)
    .execute();
  const members = await membersOfGroups(
    db,
    rows.map(({ group_id }) => group_id),
  );
  return new Set([...members.values()].flat());
}

/** The users who can see a channel. */
export async function seeingChannel(db: Db, channel: Channel): Promise<UserId[]> {
  const subscribers = await subscribersOf(db, channel.id);
  const holders = await holdersOf(db, channel.id, [
    'can_add_subscribers_group',
    'can_administer_channel_group',
    'can_subscribe_group',
  ]);
  return (await activeUsers(db))
    .filter(({ id, role }) => {
      if (channel.isWebPublic || subscribers.has(id)) return true;
      if (role === guest) return false;
      return !channel.isPrivate || role <= 200 || holders.has(id);
    })
    .map(({ id }) => id);
}

/** The users who read a channel, with their roles. */
export async function readingChannel(db: Db, channel: Channel) {
  const subscribers = await subscribersOf(db, channel.id);
  const joiners = await holdersOf(db, channel.id, ['can_subscribe_group', 'can_add_subscribers_group']);
  return (await activeUsers(db)).filter(
    ({ id, role }) =>
      channel.isWebPublic ||
      subscribers.has(id) ||
      (role !== guest && (!channel.isPrivate || joiners.has(id))),
  );
}

/** The users who lose access to messages that are moved between channels. */
export async function losing(db: Db, origin: Channel, target: Channel): Promise<UserId[]> {
  if (origin.id === target.id) return [];
  const rows = await db
    .selectFrom('subscriptions')
    .select('user_id')
    .where('channel_id', '=', origin.id)
    .execute();
  const ever = new Set(rows.map(({ user_id }) => user_id));
  const staying = await subscribersOf(db, target.id);
  return (await readingChannel(db, origin))
    .filter(({ role }) => (role === guest ? !target.isWebPublic : target.isPrivate))
    .filter(({ id }) => ever.has(id) && !staying.has(id))
    .map(({ id }) => id);
}

interface Edited {
  readonly origin: Channel;
  readonly target: Channel;
  readonly messageId: MessageId;
  readonly losing: ReadonlySet<UserId>;
}

/** The audience of an edit, with the flags of each user's copy after the edit. */
export async function updatedFor(db: Db, { origin, target, messageId, losing: gone }: Edited) {
  const rows = await db
    .selectFrom('user_messages')
    .select(['user_id', 'flags'])
    .where('message_id', '=', messageId)
    .execute();
  const copies = new Map(rows.map(({ user_id, flags }) => [user_id, flags]));
  const isMoved = origin.id !== target.id;
  const [inTarget, inOrigin] = [await subscribersOf(db, target.id), await subscribersOf(db, origin.id)];
  const before = new Set((await readingChannel(db, origin)).map(({ id }) => id));
  const flagsOf = new Map<UserId, number | undefined>();
  for (const { id, role } of await readingChannel(db, target)) {
    if (gone.has(id)) continue;
    const keepsCopy = copies.has(id) && (!isMoved || inTarget.has(id));
    const reads = target.isHistoryPublic || (isMoved ? inTarget.has(id) : keepsCopy);
    const isOutsider = role === guest && !inOrigin.has(id);
    const follows = origin.isHistoryPublic && !isOutsider && (inTarget.has(id) || inOrigin.has(id));
    if (reads && before.has(id) && (copies.has(id) || follows))
      flagsOf.set(id, keepsCopy ? copies.get(id) : undefined);
  }
  return flagsOf;
}

/** The users who can see a user. Guests see only users who share a channel or conversation with them. */
export async function seeingAcquainted(
  db: Db,
  user: { readonly id: UserId; readonly isBot: boolean },
): Promise<UserId[]> {
  const { rows } = await sql<{ guest_id: UserId; user_id: UserId }>`
    select own.user_id as guest_id, other.user_id
    from users
      join subscriptions as own on own.user_id = users.id and own.is_active = 1
      join subscriptions as other on other.channel_id = own.channel_id and other.is_active = 1
    where users.role = ${guest} and users.is_active = 1
    union
    select own.user_id as guest_id, other.user_id
    from users
      join conversation_participants as own on own.user_id = users.id
      join conversation_participants as other on other.conversation_id = own.conversation_id
    where users.role = ${guest} and users.is_active = 1`.execute(db);
  const known = new Set(rows.filter(({ user_id }) => user_id === user.id).map(({ guest_id }) => guest_id));
  return (await activeUsers(db))
    .filter(({ id, role }) => user.isBot || role !== guest || id === user.id || known.has(id))
    .map(({ id }) => id);
}
