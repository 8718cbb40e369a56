import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes, inKeyOrder, isPostgres } from '@waxwing/storage';
import { type Generated, type Kysely, type RawBuilder, sql } from 'kysely';
import { mentionBits, messageFlags, notifiedBit } from './message-flags.js';

/** Message tables. Times are Unix milliseconds, booleans are 0 or 1. */
export interface MessageTables {
  /** One row per set of users who exchange direct messages. */
  conversations: {
    id: Generated<number>;
    /** All participants' ids in ascending order, separated by commas. */
    participants: string;
  };
  conversation_participants: {
    conversation_id: number;
    user_id: UserId;
  };
  messages: {
    id: Generated<MessageId>;
    sender_id: UserId;
    /** Null for direct messages, which have a conversation. */
    channel_id: ChannelId | null;
    conversation_id: number | null;
    /** Empty for direct messages. */
    topic: string;
    /** The topic's key within its channel: its name in lower case. */
    topic_lower: string;
    /** Markdown source. */
    content: string;
    /** HTML. */
    rendered_content: string;
    sent_at: number;
    /** The client program's name. */
    client: string;
    /** When the content last changed. Null if it never changed. */
    last_edited_at: number | null;
    /** When the topic or channel last changed, except by resolving the topic. Null if neither changed. */
    last_moved_at: number | null;
    has_link: number;
    has_image: number;
    has_attachment: number;
  };
  /**
   * A user's own copy of a message. Each recipient has a copy, as does each user who later starred or collapsed the
   * message or marked it as unread. If history is protected, only a copy grants read access. The table has no foreign
   * keys, because a message creates many copies; they are deleted with the message.
   */
  user_messages: {
    user_id: UserId;
    message_id: MessageId;
    /** Bits of `messageFlags`. */
    flags: number;
  };
  /** Previous states of messages, one row per edit or move. */
  message_edits: {
    id: Generated<number>;
    message_id: MessageId;
    edited_at: number;
    editor_id: UserId;
    /** Here and in the columns below, null means that the edit did not change the value. */
    prev_content: string | null;
    prev_rendered_content: string | null;
    /** HTML diff from `prev_rendered_content` to the text after the edit. Also null if it was not computed. */
    content_html_diff: string | null;
    prev_topic: string | null;
    topic: string | null;
    prev_channel_id: ChannelId | null;
    channel_id: ChannelId | null;
  };
  /** Users' visibility policies for topics. */
  user_topics: {
    user_id: UserId;
    channel_id: ChannelId;
    topic: string;
    topic_lower: string;
    /** One of `visibilityPolicies`. */
    visibility_policy: number;
    updated_at: number;
  };
}

const { integer, text } = columnTypes;

export async function createMessages(db: Kysely<unknown>): Promise<void> {
  await createConversations(db);
  await addIdColumn(db, db.schema.createTable('messages'))
    .addColumn('sender_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('channel_id', integer, (column) => column.references('channels.id'))
    .addColumn('conversation_id', integer, (column) => column.references('conversations.id'))
    .addColumn('topic', text, (column) => column.notNull())
    .addColumn('topic_lower', text, (column) => column.notNull())
    .addColumn('content', text, (column) => column.notNull())
    .addColumn('rendered_content', text, (column) => column.notNull())
    .addColumn('sent_at', integer, (column) => column.notNull())
    .addColumn('client', text, (column) => column.notNull())
    .addColumn('last_edited_at', integer)
    .addColumn('last_moved_at', integer)
    .addColumn('has_link', integer, (column) => column.notNull())
    .addColumn('has_image', integer, (column) => column.notNull())
    .addColumn('has_attachment', integer, (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('messages_topic')
    .on('messages')
    .columns(['channel_id', 'topic_lower', 'id'])
    .execute();
  await db.schema.createIndex('messages_channel').on('messages').columns(['channel_id', 'id']).execute();
  await db.schema
    .createIndex('messages_conversation')
    .on('messages')
    .columns(['conversation_id', 'id'])
    .execute();
  await db.schema.createIndex('messages_sender').on('messages').columns(['sender_id', 'id']).execute();
  await createCopies(db);
  await createEdits(db);
  await createUserTopics(db);
}

async function createConversations(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('conversations'))
    .addColumn('participants', text, (column) => column.notNull().unique())
    .execute();
  await db.schema
    .createTable('conversation_participants')
    .addColumn('conversation_id', integer, (column) => column.notNull().references('conversations.id'))
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addPrimaryKeyConstraint('conversation_participants_pair', ['conversation_id', 'user_id'])
    .execute();
  await db.schema
    .createIndex('conversation_participants_user')
    .on('conversation_participants')
    .column('user_id')
    .execute();
}

/**
 * Creates the table of copies. Its primary key stores a message's copies next to each other, so that the copies of a
 * new message are appended at the end of the table.
 */
async function createCopies(db: Kysely<unknown>): Promise<void> {
  const table = db.schema
    .createTable('user_messages')
    .addColumn('user_id', integer, (column) => column.notNull())
    .addColumn('message_id', integer, (column) => column.notNull())
    .addColumn('flags', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_messages_pair', ['message_id', 'user_id']);
  await inKeyOrder(db, table).execute();
  await createIndexesOfFlags(db);
}

async function createIndexesOfFlags(db: Kysely<unknown>): Promise<void> {
  const { read, starred, mentioned, stream_wildcard_mentioned, topic_wildcard_mentioned } = messageFlags;
  const mentions = mentioned | stream_wildcard_mentioned | topic_wildcard_mentioned;
  await createIndexOfUsers(db, 'user_messages_unread', sql`flags & ${sql.lit(read)} = 0`);
  await createIndexOfUsers(db, 'user_messages_mentioned', sql`flags & ${sql.lit(mentions)} <> 0`);
  await createIndexOfUsers(db, 'user_messages_starred', sql`flags & ${sql.lit(starred)} <> 0`);
}

/**
 * Creates a partial index over users' copies that meet a condition. Databases use the index only for queries that
 * contain the condition in exactly this form.
 */
async function createIndexOfUsers(
  db: Kysely<unknown>,
  name: string,
  condition: RawBuilder<unknown>,
): Promise<void> {
  await sql`create index ${sql.ref(name)} on user_messages (user_id, message_id) where ${condition}`.execute(
    db,
  );
}

/**
 * Recreates the flag indexes, so that they are newer than the index over all copies of a user: SQLite picks the
 * newest usable index.
 */
async function makeIndexesOfFlagsYoungest(db: Kysely<unknown>): Promise<void> {
  for (const name of ['user_messages_unread', 'user_messages_mentioned', 'user_messages_starred'])
    await db.schema.dropIndex(name).execute();
  await createIndexesOfFlags(db);
}

/** Adds an index for reading a user's copies in order. A user has copies of only a small part of all messages. */
export async function findCopiesByUser(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('user_messages_user')
    .on('user_messages')
    .columns(['user_id', 'message_id'])
    .execute();
}

/**
 * Adds a partial index over copies whose push notification was sent and not retracted. They are a small fraction of a
 * user's copies.
 */
export async function findNotifiedCopies(db: Kysely<unknown>): Promise<void> {
  if (!isPostgres(db)) await makeIndexesOfFlagsYoungest(db);
  await createIndexOfUsers(db, 'user_messages_notified', sql`flags & ${sql.lit(notifiedBit)} <> 0`);
}

/**
 * Condition on rows of `user_messages`. Has exactly the form of the condition in the `user_messages_mentions` index.
 */
export const hasMentionFlags = sql<boolean>`flags & ${sql.lit(mentionBits)} <> 0`;

/** Adds a partial index over the copies of a message that have mention flags. An edit reads only these copies. */
export async function findMentionsOfMessage(db: Kysely<unknown>): Promise<void> {
  await sql`create index user_messages_mentions on user_messages (message_id, user_id) where ${hasMentionFlags}`.execute(
    db,
  );
}

async function createEdits(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('message_edits'))
    .addColumn('message_id', integer, (column) => column.notNull().references('messages.id'))
    .addColumn('edited_at', integer, (column) => column.notNull())
    .addColumn('editor_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('prev_content', text)
    .addColumn('prev_rendered_content', text)
    .addColumn('prev_topic', text)
    .addColumn('topic', text)
    .addColumn('prev_channel_id', integer)
    .addColumn('channel_id', integer)
    .execute();
  await db.schema
    .createIndex('message_edits_message')
    .on('message_edits')
    .columns(['message_id', 'id'])
    .execute();
}

/** Adds the column with the diff of an edit. Edits before this migration have no diff. */
export async function addEditDiffs(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('message_edits').addColumn('content_html_diff', text).execute();
}

async function createUserTopics(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('user_topics')
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('channel_id', integer, (column) => column.notNull().references('channels.id'))
    .addColumn('topic', text, (column) => column.notNull())
    .addColumn('topic_lower', text, (column) => column.notNull())
    .addColumn('visibility_policy', integer, (column) => column.notNull())
    .addColumn('updated_at', integer, (column) => column.notNull())
    .addPrimaryKeyConstraint('user_topics_id', ['user_id', 'channel_id', 'topic_lower'])
    .execute();
  await db.schema
    .createIndex('user_topics_topic')
    .on('user_topics')
    .columns(['channel_id', 'topic_lower'])
    .execute();
}
