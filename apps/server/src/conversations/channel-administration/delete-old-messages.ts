import type { ChannelId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import { readRealmSetting } from '../../people/realm/realm-setting-store.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { type Channel, lockChannels } from '../channels/channel-store.js';
import { lockMessages, type Message } from '../messages/message-store.js';
import { removeMessages } from '../messages/removal/remove-messages.js';

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/** Batch size. Keeps transactions short, so that other writers do not wait long. */
const messagesPerBatch = 500;
const dayMilliseconds = 24 * 60 * 60_000;

/**
 * Deletes messages that are older than the retention period of their channel, or else of the organization. Returns
 * the number of deleted messages. Notifies the users who could read them. Each transaction deletes a batch from one
 * topic or conversation.
 */
export async function deleteOldMessages(context: Context, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (const findOldest of [oldestOfChannels, oldestDirect]) {
    // Each search starts where the last one found messages, to skip channels and conversations without expired
    // messages.
    let fromId = 0;
    while (!signal.aborted) {
      const { result } = await context.database.writeSingle((transaction) =>
        deleteSome(transaction, context, (search) => findOldest(transaction.db, { ...search, fromId })),
      );
      if (result === undefined) break;
      removed += result.removed;
      fromId = result.placeId;
    }
  }
  return removed;
}

/** The oldest expired message of a channel or conversation. */
interface Oldest {
  readonly id: number;
  readonly channel_id: ChannelId | null;
  readonly conversation_id: number | null;
  readonly topic_lower: string;
}

interface Search {
  readonly realmDays: number;
  readonly now: number;
  /** The channel or conversation id at which the search starts. */
  readonly fromId: number;
}

interface Deleted {
  readonly removed: number;
  /** The id of the messages' channel or conversation. The next search starts there. */
  readonly placeId: number;
}

/** Deletes one batch. Returns `undefined` if nothing has expired. */
async function deleteSome(
  transaction: ServerTransaction,
  context: Context,
  findOldest: (search: Omit<Search, 'fromId'>) => Promise<Oldest | undefined>,
): Promise<Deleted | undefined> {
  const now = context.clock();
  const realmDays = await readRealmSetting(transaction.db, 'message_retention_days');
  const oldest = await findOldest({ realmDays, now });
  if (oldest === undefined) return undefined;
  const [channel] = oldest.channel_id === null ? [] : await lockChannels(transaction, [oldest.channel_id]);
  const messages = await lockOldInTopic(transaction, oldest, { channel, realmDays, now });
  if (messages.length === 0) return undefined;
  await removeMessages(transaction, context, { messages, channel, actorId: undefined });
  return { removed: messages.length, placeId: Number(oldest.channel_id ?? oldest.conversation_id) };
}

/** Returns the oldest message of the first channel whose oldest message has expired. */
async function oldestOfChannels(
  db: Kysely<ServerTables>,
  { realmDays, now, fromId }: Search,
): Promise<Oldest | undefined> {
  const { rows } = await sql<Oldest>`
    select messages.id, messages.channel_id, messages.conversation_id, messages.topic_lower
    from channels join messages on messages.id = channels.first_message_id
    where channels.id >= ${fromId}
      and coalesce(channels.message_retention_days, ${realmDays}) > 0
      and messages.sent_at < ${now} - coalesce(channels.message_retention_days, ${realmDays}) * ${dayMilliseconds}
    order by channels.id limit 1`.execute(db);
  return rows[0];
}

/** Returns the oldest message of the first conversation that has expired messages. Reads no further conversations. */
async function oldestDirect(
  db: Kysely<ServerTables>,
  { realmDays, now, fromId }: Search,
): Promise<Oldest | undefined> {
  if (realmDays < 0) return undefined;
  const { rows } = await sql<Oldest>`
    select messages.id, messages.channel_id, messages.conversation_id, messages.topic_lower
    from conversations join messages on messages.id = (
      select min(id) from messages as first where first.conversation_id = conversations.id
    )
    where conversations.id >= ${fromId}
      and messages.sent_at < ${now - realmDays * dayMilliseconds}
    order by conversations.id limit 1`.execute(db);
  return rows[0];
}

interface TopicLocation {
  readonly channel: Channel | undefined;
  readonly realmDays: number;
  readonly now: number;
}

/**
 * Locks a batch of expired messages in the topic or conversation of the oldest message. Reads the retention period
 * again, because it may have changed since the search.
 */
async function lockOldInTopic(
  transaction: ServerTransaction,
  oldest: Oldest,
  { channel, realmDays, now }: TopicLocation,
): Promise<Message[]> {
  const { db } = transaction;
  const days = channel?.retentionDays ?? realmDays;
  if (days < 0) return [];
  const rows = await db
    .selectFrom('messages')
    .select('id')
    .$if(channel !== undefined, (query) =>
      query.where('channel_id', '=', oldest.channel_id).where('topic_lower', '=', oldest.topic_lower),
    )
    .$if(channel === undefined, (query) => query.where('conversation_id', '=', oldest.conversation_id))
    .where('sent_at', '<', now - days * dayMilliseconds)
    .orderBy('id')
    .limit(messagesPerBatch)
    .execute();
  return lockMessages(
    transaction,
    rows.map(({ id }) => id),
  );
}
