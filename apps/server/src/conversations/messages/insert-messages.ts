import type { RenderedMarkdown } from '@waxwing/markdown';
import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { numbersIn, rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import { claimUploads } from '../../content/uploads/attachment-references.js';
import type { ServerContext } from '../../context.js';
import type { Role } from '../../platform/authentication/roles.js';
import type { ServerTransaction } from '../../tables.js';
import { awakeningEvents } from '../channels/recent-activity.js';
import { ensureConversations, participantsKey } from './conversation-store.js';
import { guestsWithoutAccess } from './guests-without-access.js';
import { isReadable } from './message-access.js';
import { messageEvents, type SentMessage } from './message-events.js';
import { findMessages, type Message, topicKey } from './message-store.js';
import { copiesOf, readRecipientFacts, usersByFlags } from './recipients.js';
import { readRelatedRecords } from './related-records.js';

export type Destination =
  | { readonly kind: 'channel'; readonly channelId: ChannelId; readonly topic: string }
  /** All participants, including the sender. */
  | { readonly kind: 'direct'; readonly userIds: readonly UserId[] };

/** A message to send, after all permission checks. */
export interface NewMessage {
  readonly senderId: UserId;
  readonly destination: Destination;
  /** Markdown source. */
  readonly content: string;
  /** The result of `renderContents` for the content. */
  readonly rendered: RenderedMarkdown;
  /** The client program's name. */
  readonly client: string;
  /** Users whose copy is marked as read from the start. */
  readonly readBy?: readonly UserId[];
  /** The sender's event queue, and the client-assigned id of the message, which is sent only to that queue. */
  readonly echo?: { readonly queueId: string; readonly localId: string };
}

/** The parts of the server context that sending uses. */
export type SendingContext = Pick<ServerContext, 'clock' | 'publish' | 'realm'>;

/**
 * Sends messages in the given order: stores them, creates a copy for each subscriber or participant, and publishes
 * the events. Runs a constant number of statements. The caller must have locked the channels, in ascending order.
 */
export async function sendMessages(
  transaction: ServerTransaction,
  context: SendingContext,
  messages: readonly NewMessage[],
): Promise<SentMessage[]> {
  if (messages.length === 0) return [];
  const { db } = transaction;
  const now = context.clock();
  const stored = await insertRows(transaction, messages, now);
  const facts = await readRecipientFacts(db, stored, messages);
  const sent = stored.map((message, index): SentMessage => {
    const { rendered, readBy = [] } = messages[index] as NewMessage;
    return { message, rendered, copies: copiesOf(message, rendered.mentions, facts, readBy) };
  });
  await insertCopies(transaction, sent);
  await noteNewest(transaction, stored);
  await claimFiles(transaction, context, sent);
  const related = await readRelatedRecords(db, context.realm, stored, { showsEdits: false });
  const hidden = await guestsWithoutAccess(db, sent, related);
  const events = sent.flatMap((each, index) =>
    messageEvents(each, related, {
      echo: messages[index]?.echo,
      hiddenFrom: hidden.get(each.message.senderId) ?? new Set(),
      isPublic: each.message.channelId !== undefined && facts.publicChannelIds.has(each.message.channelId),
    }),
  );
  await context.publish(transaction, events);
  await context.publish(transaction, await awakeningEvents(db, facts.dormantChannelIds, now));
  return sent;
}

async function insertRows(
  { db }: ServerTransaction,
  messages: readonly NewMessage[],
  now: number,
): Promise<Message[]> {
  const keys = messages.flatMap(({ destination }) =>
    destination.kind === 'direct' ? [participantsKey(destination.userIds)] : [],
  );
  const conversations = await ensureConversations(db, keys);
  const rows = messages.map(({ senderId, destination, content, rendered, client }, place) => ({
    place,
    sender_id: senderId,
    ...(destination.kind === 'channel'
      ? { channel_id: destination.channelId, conversation_id: 0, topic: destination.topic }
      : {
          channel_id: 0,
          conversation_id: conversations.get(participantsKey(destination.userIds)) ?? 0,
          topic: '',
        }),
    topic_lower: destination.kind === 'channel' ? topicKey(destination.topic) : '',
    content,
    rendered_content: rendered.html,
    client,
    has_link: rendered.hasLink ? 1 : 0,
    has_image: rendered.uploads.some(isImage) ? 1 : 0,
    // `claimUploads` sets this flag, because it knows which files the sender may refer to.
    has_attachment: 0,
  }));
  const table = rowsAsTable(db, 'v', rowColumns, rows);
  const { rows: ids } = await sql<{ id: MessageId }>`
    insert into messages (
      sender_id, channel_id, conversation_id, topic, topic_lower, content, rendered_content, sent_at, client,
      has_link, has_image, has_attachment
    )
    select v.sender_id, nullif(v.channel_id, 0), nullif(v.conversation_id, 0), v.topic, v.topic_lower, v.content,
      v.rendered_content, cast(${now} as bigint), v.client, v.has_link, v.has_image, v.has_attachment
    from ${table} order by v.place
    returning id`.execute(db);
  return findMessages(
    db,
    ids.map(({ id }) => id),
  );
}

const rowColumns = {
  place: 'integer',
  sender_id: 'integer',
  channel_id: 'integer',
  conversation_id: 'integer',
  topic: 'text',
  topic_lower: 'text',
  content: 'text',
  rendered_content: 'text',
  client: 'text',
  has_link: 'integer',
  has_image: 'integer',
  has_attachment: 'integer',
} as const;

/** Returns whether an upload's file name has an image extension. */
export function isImage(pathId: string): boolean {
  return /\.(avif|bmp|gif|jpe?g|png|tiff?|webp)$/i.test(pathId);
}

async function insertCopies({ db }: ServerTransaction, sent: readonly SentMessage[]): Promise<void> {
  // Groups copies by flags, because most copies of a message have the same flags. Encoding each copy as a JSON row
  // would take longer than storing it.
  const alike = sent.flatMap(({ message, copies }) =>
    [...usersByFlags(copies)].map(([flags, userIds]) => ({
      message_id: message.id,
      flags,
      user_ids: JSON.stringify(userIds),
    })),
  );
  if (alike.length === 0) return;
  const columns = { message_id: 'integer', flags: 'integer', user_ids: 'text' } as const;
  await sql`
    with alike as materialized (select * from ${rowsAsTable(db, 'v', columns, alike)})
    insert into user_messages (user_id, message_id, flags)
    select reader.value, alike.message_id, alike.flags
    from alike cross join ${numbersIn(db, 'alike.user_ids', 'reader')}`.execute(db);
}

/** Updates the channels' `last_message_at` and, for their first message, `first_message_id`. */
async function noteNewest({ db }: ServerTransaction, messages: readonly Message[]): Promise<void> {
  const rows = messages.flatMap(({ id, channelId, sentAt }) =>
    channelId === undefined ? [] : [{ id, channel_id: channelId, sent_at: sentAt }],
  );
  if (rows.length === 0) return;
  const columns = { id: 'integer', channel_id: 'integer', sent_at: 'integer' } as const;
  await sql`
    update channels
    set last_message_at = v.sent_at, first_message_id = coalesce(first_message_id, v.id)
    from (
      select channel_id, min(id) as id, max(sent_at) as sent_at
      from ${rowsAsTable(db, 'w', columns, rows)} group by channel_id
    ) as v
    where channels.id = v.channel_id`.execute(db);
}

/** Records the files that messages refer to, grouped by sender. Usually there is only one sender. */
async function claimFiles(
  transaction: ServerTransaction,
  context: SendingContext,
  sent: readonly SentMessage[],
): Promise<void> {
  const claims = sent.flatMap(({ message: { id, senderId }, rendered: { uploads } }) =>
    uploads.length === 0 ? [] : [{ messageId: id, senderId, pathIds: uploads }],
  );
  if (claims.length === 0) return;
  const senders = await transaction.db
    .selectFrom('users')
    .select(['id', 'role'])
    .where('id', 'in', [...new Set(claims.map(({ senderId }) => senderId))])
    .execute();
  for (const { id, role } of senders) {
    const claimant = { userId: id, isReadable: isReadable({ id, role: role as Role }) };
    const own = claims.filter(({ senderId }) => senderId === id);
    await claimUploads(transaction, context, claimant, own);
  }
}
