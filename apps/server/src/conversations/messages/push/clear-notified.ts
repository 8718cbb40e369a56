import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, inPieces } from '@waxwing/storage';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import { groupedBy } from '../../../people/permissions/grouped-by.js';
import type { ServerTables } from '../../../tables.js';
import { notifiedBit } from '../message-flags.js';
import { usersInChannel } from '../message-readers.js';

/** Messages whose notifications must be retracted from devices, by user. */
export type RemovePayload = readonly { readonly userId: UserId; readonly messageIds: readonly MessageId[] }[];

/** A selection of message copies: the copies of `userIds`, or of all users if omitted. */
export interface CopiesOfMessages {
  readonly messageIds: readonly MessageId[];
  readonly userIds?: readonly UserId[];
  /** If given, selects only copies of users who are not subscribed to this channel. */
  readonly outsideChannelId?: ChannelId;
}

/** Users who have left channels. */
export interface UsersWhoLeft {
  readonly userIds: readonly UserId[];
  readonly channelIds: readonly ChannelId[];
}

type Db = Transaction<ServerTables>;

/** Clears the notified bit on these copies. Returns the messages whose bit was set, by user. */
export async function clearNotifiedOfMessages(
  db: Db,
  { messageIds, userIds, outsideChannelId }: CopiesOfMessages,
): Promise<RemovePayload> {
  const ofUsers = userIds === undefined ? sql`` : sql`and user_id in ${amongNumbers(db, userIds)}`;
  const outside =
    outsideChannelId === undefined ? sql`` : sql`and user_id not in ${usersInChannel(db, outsideChannelId)}`;
  const cleared: ClearedCopy[] = [];
  await inPieces(db, messageIds, async (piece) => {
    cleared.push(...(await clear(db, sql`message_id in ${amongNumbers(db, piece)} ${ofUsers} ${outside}`)));
  });
  return byUser(cleared);
}

/** Like {@link clearNotifiedOfMessages}, for users' copies in channels that they are not subscribed to. */
export async function clearNotifiedOfUsersWhoLeft(
  db: Db,
  { userIds, channelIds }: UsersWhoLeft,
): Promise<RemovePayload> {
  const cleared = await clear(
    db,
    sql`user_id in ${amongNumbers(db, userIds)} and exists (
      select 1 from messages
      where messages.id = user_messages.message_id
        and messages.channel_id in ${amongNumbers(db, channelIds)}
        and not exists (
          select 1 from subscriptions
          where subscriptions.user_id = user_messages.user_id
            and subscriptions.channel_id = messages.channel_id
            and subscriptions.is_active = 1
        )
    )`,
  );
  return byUser(cleared);
}

interface ClearedCopy {
  readonly user_id: UserId;
  readonly message_id: MessageId;
}

async function clear(db: Db, condition: RawBuilder<unknown>): Promise<ClearedCopy[]> {
  const bit = sql.raw(String(notifiedBit));
  const { rows } = await sql<ClearedCopy>`
    update user_messages set flags = flags - ${bit}
    where ${condition} and flags & ${bit} <> 0
    returning user_id, message_id`.execute(db);
  return rows;
}

function byUser(copies: readonly ClearedCopy[]): RemovePayload {
  return [...groupedBy(copies, ({ user_id }) => user_id)].map(([userId, own]) => ({
    userId,
    messageIds: ascendingIds(own.map(({ message_id }) => message_id)),
  }));
}
