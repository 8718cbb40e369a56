import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { ascendingIds } from '../../permissions/ascending-ids.js';
import { gatheredBy } from '../../permissions/gathered-by.js';
import type { ServerTables } from '../../tables.js';
import { notifiedBit } from '../message-flags.js';
import { usersInChannel } from '../message-readers.js';

/** Whose phones are to forget which messages. */
export type RemovePayload = readonly { readonly userId: UserId; readonly messageIds: readonly MessageId[] }[];

/** Copies of messages: some messages', of everybody where nothing is said. */
export interface CopiesOfMessages {
  readonly messageIds: readonly MessageId[];
  readonly userIds?: readonly UserId[];
  /** Of those who are not in this channel. */
  readonly outsideChannelId?: ChannelId;
}

/** Users who have left channels. */
export interface Leavers {
  readonly userIds: readonly UserId[];
  readonly channelIds: readonly ChannelId[];
}

type Db = Transaction<ServerTables>;

/** Of these copies, those of which phones were told; they no longer say so. */
export function clearNotifiedOfMessages(
  db: Db,
  { messageIds, userIds, outsideChannelId }: CopiesOfMessages,
): Promise<RemovePayload> {
  const ofUsers = userIds === undefined ? sql`` : sql`and user_id in ${amongNumbers(db, userIds)}`;
  const outside =
    outsideChannelId === undefined ? sql`` : sql`and user_id not in ${usersInChannel(db, outsideChannelId)}`;
  return clear(db, sql`message_id in ${amongNumbers(db, messageIds)} ${ofUsers} ${outside}`);
}

/** The same of what users have of channels that they are not in. */
export function clearNotifiedOfLeavers(db: Db, { userIds, channelIds }: Leavers): Promise<RemovePayload> {
  return clear(
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
}

async function clear(db: Db, condition: RawBuilder<unknown>): Promise<RemovePayload> {
  const bit = sql.raw(String(notifiedBit));
  const { rows } = await sql<{ user_id: UserId; message_id: MessageId }>`
    update user_messages set flags = flags - ${bit}
    where ${condition} and flags & ${bit} <> 0
    returning user_id, message_id`.execute(db);
  const byUser = gatheredBy(rows, ({ user_id }) => user_id);
  return [...byUser].map(([userId, own]) => ({
    userId,
    messageIds: ascendingIds(own.map(({ message_id }) => message_id)),
  }));
}
