import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { addIdColumn, columnTypes } from '@waxwing/storage';
import { type Generated, type Kysely, sql } from 'kysely';

/** Channel tables. Times are Unix milliseconds, booleans are 0 or 1. */
export interface ChannelTables {
  channels: {
    id: Generated<ChannelId>;
    name: string;
    /** The name in lower case. Unique among all channels, archived ones included. */
    name_lower: string;
    description: string;
    /** HTML. */
    rendered_description: string;
    is_private: number;
    /** 1 only if the channel and its history are public. */
    is_web_public: number;
    /** Whether new subscribers can read earlier messages. Always 1 if the channel is public. */
    is_history_public: number;
    /** Whether new users are subscribed to the channel. Never 1 for a private channel. */
    is_default: number;
    is_archived: number;
    /** Null if no user created the channel. */
    creator_id: UserId | null;
    created_at: number;
    /** Null means the organization's setting, and -1 means unlimited. */
    message_retention_days: number | null;
    folder_id: number | null;
    /** One of `topicsPolicies`. */
    topics_policy: string;
    /** Whether new subscribers get push notifications for the channel's messages, regardless of their own settings. */
    default_push_notifications: Generated<number>;
    /** The id of the channel's oldest message. Null if the channel has no messages. */
    first_message_id: MessageId | null;
    /** When the newest message was sent. Null if the channel has no messages. */
    last_message_at: number | null;
  };
  channel_folders: {
    id: Generated<number>;
    name: string;
    name_lower: string;
    description: string;
    /** HTML. */
    rendered_description: string;
    /** The folder's sort position, lowest first. */
    position: number;
    creator_id: UserId | null;
    created_at: number;
    is_archived: number;
  };
  /** Current and former subscribers of channels. */
  subscriptions: {
    channel_id: ChannelId;
    user_id: UserId;
    /** 0 for a former subscriber. */
    is_active: number;
    /** `#` and six lower-case hexadecimal digits. */
    color: string;
    is_muted: number;
    pin_to_top: number;
    /** Here and in the columns below, null means that the user's account-wide setting applies. */
    desktop_notifications: number | null;
    audible_notifications: number | null;
    push_notifications: number | null;
    email_notifications: number | null;
    wildcard_mentions_notify: number | null;
  };
}

const { integer, text } = columnTypes;

/** Adds the column for the push notification setting of new subscriptions. */
export async function addPushDefault(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('channels')
    .addColumn('default_push_notifications', integer, (column) => column.notNull().defaultTo(0))
    .execute();
}

export async function createChannels(db: Kysely<unknown>): Promise<void> {
  await addIdColumn(db, db.schema.createTable('channel_folders'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('name_lower', text, (column) => column.notNull())
    .addColumn('description', text, (column) => column.notNull())
    .addColumn('rendered_description', text, (column) => column.notNull())
    .addColumn('position', integer, (column) => column.notNull())
    .addColumn('creator_id', integer, (column) => column.references('users.id'))
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('is_archived', integer, (column) => column.notNull())
    .execute();
  await sql`create unique index channel_folders_name on channel_folders (name_lower) where is_archived = 0`.execute(
    db,
  );
  await addIdColumn(db, db.schema.createTable('channels'))
    .addColumn('name', text, (column) => column.notNull())
    .addColumn('name_lower', text, (column) => column.notNull().unique())
    .addColumn('description', text, (column) => column.notNull())
    .addColumn('rendered_description', text, (column) => column.notNull())
    .addColumn('is_private', integer, (column) => column.notNull())
    .addColumn('is_web_public', integer, (column) => column.notNull())
    .addColumn('is_history_public', integer, (column) => column.notNull())
    .addColumn('is_default', integer, (column) => column.notNull())
    .addColumn('is_archived', integer, (column) => column.notNull())
    .addColumn('creator_id', integer, (column) => column.references('users.id'))
    .addColumn('created_at', integer, (column) => column.notNull())
    .addColumn('message_retention_days', integer)
    .addColumn('folder_id', integer, (column) => column.references('channel_folders.id'))
    .addColumn('topics_policy', text, (column) => column.notNull())
    .addColumn('first_message_id', integer)
    .addColumn('last_message_at', integer)
    .execute();
  await createSubscriptions(db);
}

async function createSubscriptions(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('subscriptions')
    .addColumn('channel_id', integer, (column) => column.notNull().references('channels.id'))
    .addColumn('user_id', integer, (column) => column.notNull().references('users.id'))
    .addColumn('is_active', integer, (column) => column.notNull())
    .addColumn('color', text, (column) => column.notNull())
    .addColumn('is_muted', integer, (column) => column.notNull())
    .addColumn('pin_to_top', integer, (column) => column.notNull())
    .addColumn('desktop_notifications', integer)
    .addColumn('audible_notifications', integer)
    .addColumn('push_notifications', integer)
    .addColumn('email_notifications', integer)
    .addColumn('wildcard_mentions_notify', integer)
    .addPrimaryKeyConstraint('subscriptions_pair', ['channel_id', 'user_id'])
    .execute();
  await db.schema.createIndex('subscriptions_user').on('subscriptions').column('user_id').execute();
}

/** Adds partial indexes over default channels, web-public channels and channels in folders. These are usually few. */
export async function findSpecialChannels(db: Kysely<unknown>): Promise<void> {
  await sql`create index channels_default on channels (id) where is_default = 1`.execute(db);
  await sql`create index channels_web_public on channels (id) where is_web_public = 1`.execute(db);
  await sql`create index channels_folder on channels (folder_id) where folder_id is not null`.execute(db);
}
