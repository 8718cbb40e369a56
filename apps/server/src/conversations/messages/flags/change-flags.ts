import { type ChannelId, type MessageId, refused } from '@waxwing/protocol';
import { amongNumbers, lockingRows, rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerContext } from '../../../context.js';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import type { KnownUser } from '../../../platform/authentication/credential-store.js';
import type { ServerTransaction } from '../../../tables.js';
import { findReadableMessages, keepReadableMessages } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import type { Message } from '../message-store.js';
import { withdrawNotifications } from '../push/withdraw-notifications.js';
import { flagEvent } from './flag-events.js';
import type { FlagRequest } from './flag-request.js';

/** The result of a flag change. */
export interface FlagChange {
  /** Messages with changed copies, in ascending order. */
  readonly changedIds: readonly MessageId[];
  /** Channels whose messages could not be marked as unread, because the user is not subscribed to them. */
  readonly ignoredChannelIds: readonly ChannelId[];
}

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Changes a flag on a user's copies of messages, publishes the event, and retracts push notifications for messages
 * marked as read. Flagging a message that the user has no copy of creates a copy. Skips unreadable messages for
 * `read`.
 * @throws ProtocolError BAD_REQUEST for unreadable messages if the flag is not `read`.
 */
export async function changeFlags(
  transaction: ServerTransaction,
  context: Context,
  actor: KnownUser,
  requested: FlagRequest,
): Promise<FlagChange> {
  const { db } = transaction;
  const { flag, op } = requested;
  const isUnreading = flag === 'read' && op === 'remove';
  // A message without a copy counts as read and has no other flags, so only these changes create copies.
  const makesCopies = isUnreading || (op === 'add' && flag !== 'read');
  // Locks the messages (shared) before creating copies. Otherwise, a message could become unreadable concurrently,
  // and the new copy would keep it readable.
  const locked = makesCopies
    ? await keepReadableMessages(transaction, actor, requested.messageIds)
    : requested.messageIds;
  const messages = await readMeant(transaction, actor, requested, locked);
  const subscribed = isUnreading ? await subscribedChannels(transaction, actor) : undefined;
  const isIgnored = ({ channelId }: Message) =>
    subscribed !== undefined && channelId !== undefined && !subscribed.has(channelId);
  const meant = messages.filter((message) => !isIgnored(message));
  const ids = meant.map(({ id }) => id);
  if (makesCopies) await addCopies(transaction, actor, ids);
  const changedIds = await setFlag(transaction, actor, { ...requested, messageIds: ids });
  if (changedIds.length > 0) {
    const changed = new Set(changedIds);
    const notified = meant.filter(({ id }) => changed.has(id));
    await context.publish(transaction, [await flagEvent(db, actor, requested, notified)]);
  }
  if (flag === 'read' && op === 'add')
    await withdrawNotifications(transaction, context, { messageIds: changedIds, userIds: [actor.id] });
  const ignored = messages.filter(isIgnored).flatMap(({ channelId }) => channelId ?? []);
  return { changedIds, ignoredChannelIds: ascendingIds(ignored) };
}

async function readMeant(
  { db }: ServerTransaction,
  actor: KnownUser,
  { flag, messageIds }: FlagRequest,
  lockedIds: readonly MessageId[],
): Promise<Message[]> {
  const messages = await findReadableMessages(db, actor, lockedIds);
  if (flag === 'read' || messages.length === new Set(messageIds).size) return messages;
  throw refused('Invalid message(s)');
}

async function subscribedChannels(
  { db }: ServerTransaction,
  { id }: KnownUser,
): Promise<ReadonlySet<ChannelId>> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('channel_id')
    .where('user_id', '=', id)
    .where('is_active', '=', 1)
    .execute();
  return new Set(rows.map(({ channel_id }) => channel_id));
}

async function addCopies(
  { db }: ServerTransaction,
  { id }: KnownUser,
  ids: readonly MessageId[],
): Promise<void> {
  const rows = ids.map((message_id) => ({ message_id }));
  const flags = sql.raw(String(messageFlags.read | messageFlags.historical));
  await sql`
    insert into user_messages (user_id, message_id, flags)
    select cast(${id} as bigint), v.message_id, ${flags}
    from ${rowsAsTable(db, 'v', { message_id: 'integer' }, rows)} where true
    on conflict do nothing`.execute(db);
}

/** Sets or clears the flag. Returns the ids of messages with changed copies. */
async function setFlag(
  { db }: ServerTransaction,
  { id: userId }: KnownUser,
  { messageIds, op, flag }: FlagRequest,
): Promise<MessageId[]> {
  const bit = sql.raw(String(messageFlags[flag]));
  const copies = await db
    .selectFrom('user_messages')
    .select('message_id')
    .where('user_id', '=', userId)
    .where('message_id', 'in', amongNumbers(db, messageIds))
    .where(op === 'add' ? sql<boolean>`flags & ${bit} = 0` : sql<boolean>`flags & ${bit} <> 0`)
    .orderBy('message_id')
    .modifyEnd(lockingRows(db))
    .execute();
  const ids = copies.map(({ message_id }) => message_id);
  if (ids.length === 0) return ids;
  await db
    .updateTable('user_messages')
    .set({ flags: op === 'add' ? sql<number>`flags + ${bit}` : sql<number>`flags - ${bit}` })
    .where('user_id', '=', userId)
    .where('message_id', 'in', amongNumbers(db, ids))
    .execute();
  return ids;
}
