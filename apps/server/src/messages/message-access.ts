import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, keepingRows } from '@waxwing/storage';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { ChannelAccess } from '../channels/channel-access.js';
import { readsChannel } from '../channels/channel-rules.js';
import type { PermissionHolder } from '../permissions/permission-store.js';
import { roles } from '../permissions/roles.js';
import type { ServerTables, ServerTransaction } from '../tables.js';
import { type Message, toMessage } from './message-store.js';

/** How somebody stands to a message: what the rule about reading it asks for. */
export type MessageAccess =
  | { readonly kind: 'direct'; readonly takesPart: boolean }
  | { readonly kind: 'channel'; readonly access: ChannelAccess; readonly hasCopy: boolean };

/**
 * Whether somebody may read a message: who takes part in a conversation reads all of it, and who reads a channel reads
 * all of it where its history is public, and elsewhere what they have a copy of.
 */
export function readsMessage(message: MessageAccess): boolean {
  if (message.kind === 'direct') return message.takesPart;
  const { access, hasCopy } = message;
  return readsChannel(access) && (access.channel.isHistoryPublic || hasCopy);
}

/** {@link readsMessage} as a condition of a statement, on the row of `messages` that is called so there. */
export function isReadable(reader: PermissionHolder, messages = 'messages'): RawBuilder<boolean> {
  // With a plus, as a filter: by an index of its own each of these would gather everything that somebody may ever read.
  const row = sql.raw(`+ "${messages}"`);
  return sql<boolean>`(
    ${row}.conversation_id in (
      select conversation_id from conversation_participants where user_id = ${reader.id}
    )
    or ${row}.channel_id in (${readableChannels(reader, sql`is_history_public = 1`)})
    or (
      ${row}.channel_id in (${readableChannels(reader, sql`is_history_public = 0`)})
      and exists (
        select 1 from user_messages as copy where copy.user_id = ${reader.id} and copy.message_id = ${row}.id
      )
    )
  )`;
}

/** The ids of the channels that somebody reads, of those that the condition is true of: `readsChannel` in a statement. */
export function readableChannels(
  { id, role }: PermissionHolder,
  condition = sql`1 = 1`,
): RawBuilder<ChannelId> {
  const isGuest = role === roles.guest;
  const open = isGuest ? sql`is_web_public = 1` : sql`(is_web_public = 1 or is_private = 0)`;
  const joinable = isGuest ? sql`` : sql`or id in (${joinableChannels(id)})`;
  return sql<ChannelId>`
    select id from channels
    where ${condition} and (
      ${open}
      or id in (select channel_id from subscriptions where user_id = ${id} and is_active = 1)
      ${joinable}
    )`;
}

/** The channels whose own permissions let a user who is no guest join them, or others; by default nobody may. */
function joinableChannels(userId: UserId): RawBuilder<ChannelId> {
  return sql<ChannelId>`
    select owner_id from (
      with recursive above(group_id) as (
        select group_id from user_group_members where user_id = ${userId}
        union
        select nested.group_id from above join user_group_subgroups as nested on nested.subgroup_id = above.group_id
      )
      select permissions.owner_id
      from permissions join above on above.group_id = permissions.group_id
      where permissions.level = 'channel'
        and permissions.name in ('can_subscribe_group', 'can_add_subscribers_group')
    ) as joinable`;
}

/** The messages with these ids that somebody may read, in ascending order: one statement. */
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
 * Has nobody change or delete those of the messages that somebody may read until the transaction ends, and says which they
 * are; others are not waited for. What is read of them after that, in a statement of its own, is so until then.
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
