import type { ChannelId, MessageId, UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows } from '@waxwing/storage';
import type { Kysely, Selectable } from 'kysely';
import { isPublicOnWeb } from '../../people/realm/public-access.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';

/** The policies for the unnamed topic that a channel can have. */
export const topicsPolicies = [
  'inherit',
  'allow_empty_topic',
  'disable_empty_topic',
  'empty_topic_only',
] as const;

export type TopicsPolicy = (typeof topicsPolicies)[number];

export interface Channel {
  readonly id: ChannelId;
  readonly name: string;
  readonly description: string;
  /** HTML. */
  readonly renderedDescription: string;
  readonly isPrivate: boolean;
  readonly isWebPublic: boolean;
  /** Whether new subscribers can read earlier messages. */
  readonly isHistoryPublic: boolean;
  readonly isDefault: boolean;
  readonly isArchived: boolean;
  /** `undefined` if no user created the channel. */
  readonly creatorId: UserId | undefined;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** `undefined` means the organization's setting, and -1 means unlimited. */
  readonly retentionDays: number | undefined;
  readonly folderId: number | undefined;
  readonly topicsPolicy: TopicsPolicy;
  /** Whether new subscribers get push notifications for the channel's messages, regardless of their own settings. */
  readonly notifiesPhones: boolean;
  readonly firstMessageId: MessageId | undefined;
  /** Unix milliseconds. `undefined` before the first message. */
  readonly lastMessageAt: number | undefined;
}

type Db = Kysely<ServerTables>;

/** Returns the channels with these ids, or all channels if omitted, ordered by id. */
export async function findChannels(db: Db, ids?: readonly ChannelId[]): Promise<Channel[]> {
  const rows = await channelRows(db, ids).execute();
  return rows.map(toChannel);
}

/** Finds a channel by its lower-case name. Returns a list of at most one channel. */
export async function findChannelsNamed(db: Db, name: string): Promise<Channel[]> {
  const rows = await channelRows(db, undefined).where('name_lower', '=', name).execute();
  return rows.map(toChannel);
}

/** Returns the channels that unauthenticated clients can see, ordered by id. */
export async function findSpectatorChannels(db: Db): Promise<Channel[]> {
  const rows = await channelRows(db, undefined).where(isPublicOnWeb).execute();
  return rows.map(toChannel);
}

/** Like {@link findChannels}, but reads the latest state and locks the channels until the transaction ends. */
export async function lockChannels({ db }: ServerTransaction, ids: readonly ChannelId[]): Promise<Channel[]> {
  const rows = await channelRows(db, ids).modifyEnd(lockingRows(db)).execute();
  return rows.map(toChannel);
}

function channelRows(db: Db, ids: readonly ChannelId[] | undefined) {
  return db
    .selectFrom('channels')
    .selectAll()
    .$if(ids !== undefined, (query) => query.where('id', 'in', amongNumbers(db, ids ?? [])))
    .orderBy('id');
}

function toChannel(row: Selectable<ServerTables['channels']>): Channel {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    renderedDescription: row.rendered_description,
    isPrivate: row.is_private === 1,
    isWebPublic: row.is_web_public === 1,
    isHistoryPublic: row.is_history_public === 1,
    isDefault: row.is_default === 1,
    isArchived: row.is_archived === 1,
    creatorId: row.creator_id ?? undefined,
    createdAt: row.created_at,
    retentionDays: row.message_retention_days ?? undefined,
    folderId: row.folder_id ?? undefined,
    topicsPolicy: row.topics_policy as TopicsPolicy,
    notifiesPhones: row.default_push_notifications === 1,
    firstMessageId: row.first_message_id ?? undefined,
    lastMessageAt: row.last_message_at ?? undefined,
  };
}
