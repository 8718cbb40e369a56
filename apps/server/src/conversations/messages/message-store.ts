import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';

/** The fields of a message that are shown to readers. Times are Unix milliseconds. */
export interface ShownMessage {
  readonly id: MessageId;
  readonly senderId: UserId;
  /** `undefined` for direct messages, which have a conversation. */
  readonly channelId: ChannelId | undefined;
  readonly conversationId: number | undefined;
  /** Empty for direct messages. */
  readonly topic: string;
  /** Markdown source. */
  readonly content: string;
  /** HTML. */
  readonly renderedContent: string;
  readonly sentAt: number;
  /** The client program's name. */
  readonly client: string;
  readonly lastEditedAt: number | undefined;
  readonly lastMovedAt: number | undefined;
}

/** A message with all its stored fields. */
export interface Message extends ShownMessage {
  readonly hasLink: boolean;
  readonly hasImage: boolean;
  readonly hasAttachment: boolean;
}

type Db = Kysely<ServerTables>;

/** The prefix of a status message, in which users describe what they are doing. */
export const meBeginning = '/me ';

/** Returns the messages with these ids, in ascending order. Does not check access. */
export async function findMessages(db: Db, ids: readonly MessageId[]): Promise<Message[]> {
  return (await messageRows(db, ids).execute()).map(toMessage);
}

/** Like {@link findMessages}, but reads the latest state and locks the messages until the transaction ends. */
export async function lockMessages({ db }: ServerTransaction, ids: readonly MessageId[]): Promise<Message[]> {
  return (await messageRows(db, ids).modifyEnd(lockingRows(db)).execute()).map(toMessage);
}

/** Returns the key of a topic within its channel. Topics are case-insensitive. */
export function topicKey(topic: string): string {
  return topic.toLowerCase();
}

function messageRows(db: Db, ids: readonly MessageId[]) {
  return db.selectFrom('messages').selectAll().where('id', 'in', amongNumbers(db, ids)).orderBy('id');
}

type Row = Selectable<ServerTables['messages']>;

/** Converts a row of `messages`. */
export function toMessage(row: Row): Message {
  return Object.assign(toShown(row), {
    hasLink: row.has_link === 1,
    hasImage: row.has_image === 1,
    hasAttachment: row.has_attachment === 1,
  });
}

/** The columns of a {@link ShownMessage}. */
export const shownColumns = [
  'id',
  'sender_id',
  'channel_id',
  'conversation_id',
  'topic',
  'content',
  'rendered_content',
  'sent_at',
  'client',
  'last_edited_at',
  'last_moved_at',
] as const;

/** Converts the {@link shownColumns} of a row of `messages`. */
export function toShown(row: Pick<Row, (typeof shownColumns)[number]>): ShownMessage {
  return {
    id: row.id,
    senderId: row.sender_id,
    channelId: row.channel_id ?? undefined,
    conversationId: row.conversation_id ?? undefined,
    topic: row.topic,
    content: row.content,
    renderedContent: row.rendered_content,
    sentAt: row.sent_at,
    client: row.client,
    lastEditedAt: row.last_edited_at ?? undefined,
    lastMovedAt: row.last_moved_at ?? undefined,
  };
}
