import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import type { ChannelAccess } from '../channels/channel-access.js';
import { readsChannel } from '../channels/channel-rules.js';
import { type Message, toMessage } from './message-store.js';

/** A user's access to a message: the input of {@link readsMessage}. */
export type MessageAccess =
  | { readonly kind: 'direct'; readonly takesPart: boolean }
  | { readonly kind: 'channel'; readonly access: ChannelAccess; readonly hasCopy: boolean };

/**
 * Returns whether a user may read a message. Participants may read their conversation from its start. Readers of a
 * channel may read all messages if its history is public, otherwise only messages that they have a copy of.
 */
export function readsMessage(message: MessageAccess): boolean {
  if (message.kind === 'direct') return message.takesPart;
  const { access, hasCopy } = message;
  return readsChannel(access) && (access.channel.isHistoryPublic || hasCopy);
}

/**
 * Returns {@link readsMessage} as an SQL condition on a row of `messages`. It looks up the channel or conversation of
 * each row, so that its cost does not grow with the number of channels and conversations.
 */
export function isReadable(reader: PermissionHolder): RawBuilder<boolean> {
  // The unary plus prevents the planner from using an index here, which would collect every message that the user may
  // read.
  const channelId = sql`+ messages.channel_id`;
  return sql<boolean>`(
    ${channelId} in (${readableChannels(
      reader,
      sql`channels.id = ${channelId} and (is_history_public = 1 or exists (
        select 1 from user_messages as copy where copy.user_id = ${reader.id} and copy.message_id = messages.id
      ))`,
    )})
    or exists (
      select 1 from conversation_participants as participant
      where participant.user_id = ${reader.id} and participant.conversation_id = + messages.conversation_id
    )
  )`;
}

/** Returns `readsChannel` as a subquery: the ids of the channels that meet `condition` and that the user may read. */
export function readableChannels(
  { id, role }: PermissionHolder,
  condition = sql`1 = 1`,
): RawBuilder<ChannelId> {
  const isGuest = role === roles.guest;
  const open = isGuest ? sql`is_web_public = 1` : sql`(is_web_public = 1 or is_private = 0)`;
  const joinable = isGuest ? sql`` : sql`or ${mayJoin(id)}`;
  return sql<ChannelId>`
    select channels.id from channels
    where ${condition} and (
      ${open}
      or exists (
        select 1 from subscriptions
        where subscriptions.user_id = ${id} and subscriptions.channel_id = channels.id and subscriptions.is_active = 1
      )
      ${joinable}
    )`;
}

/**
 * Returns a condition on a row of `channels`: its permissions allow a user to join or to add others. Looks up the
 * permissions of this channel only. Do not use it for guests, who never have these permissions.
 */
function mayJoin(userId: UserId): RawBuilder<boolean> {
  return sql<boolean>`exists (
    select 1 from permissions
    where permissions.level = 'channel' and permissions.owner_id = channels.id
      and permissions.name in ('can_subscribe_group', 'can_add_subscribers_group')
      and permissions.group_id in (
        with recursive above(group_id) as (
          select group_id from user_group_members where user_id = ${userId}
          union
          select nested.group_id from above join user_group_subgroups as nested on nested.subgroup_id = above.group_id
        )
        select group_id from above
      )
  )`;
}

/** Returns the messages with these ids that the reader may read, in ascending order, with one statement. */
export async function findReadableMessages(
  db: Kysely<ServerTables>,
  reader: PermissionHolder,
  ids: readonly MessageId[],
): Promise<Message[]> {
  const rows = await db
    .selectFrom('messages')
    .selectAll()
    .where('id', 'in', amongNumbers(db, ids))
    .where(isReadable(reader))
    .orderBy('id')
    .execute();
  return rows.map(toMessage);
}

/**
 * Takes a shared lock on the messages that the reader may read, until the transaction ends. Returns their ids. Does
 * not wait for locks on unreadable messages. Later statements in the transaction see the locked messages unchanged.
 */
export async function keepReadableMessages(
  { db }: ServerTransaction,
  reader: PermissionHolder,
  ids: readonly MessageId[],
): Promise<MessageId[]> {
  const kept = await db
    .selectFrom('messages')
    .select('id')
    .where('id', 'in', amongNumbers(db, ids))
    .where(isReadable(reader))
    .orderBy('id')
    .modifyEnd(keepingRows(db))
    .execute();
  return kept.map(({ id }) => id);
}
