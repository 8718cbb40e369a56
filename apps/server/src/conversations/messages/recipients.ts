import type { References } from '@waxwing/markdown';
import type { ChannelId, GroupId, UserId } from '@waxwing/protocol';
import { amongNumbers, isAmong, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import { membersAmong } from '../../people/permissions/nested-membership.js';
import type { ServerTables } from '../../tables.js';
import { isDormant } from '../channels/recent-activity.js';
import { messageFlags } from './message-flags.js';
import type { Message } from './message-store.js';
import { readUserIds } from './related-records.js';

type Db = Kysely<ServerTables>;

/** A user's copy of a message. */
export interface MessageCopy {
  readonly userId: UserId;
  /** Bits of `messageFlags`. */
  readonly flags: number;
}

/** The facts that determine which users get a copy of a message, and with which flags. */
export interface RecipientFacts {
  /** Active subscribers, by channel. */
  readonly subscribers: ReadonlyMap<ChannelId, readonly UserId[]>;
  /** Active participants, by conversation. */
  readonly participants: ReadonlyMap<number, readonly UserId[]>;
  readonly groupMembers: ReadonlyMap<GroupId, Iterable<UserId>>;
  /** Users who have sent messages to a topic, by {@link topicId}. */
  readonly topicSenders: ReadonlyMap<string, ReadonlySet<UserId>>;
  readonly publicChannelIds: ReadonlySet<ChannelId>;
  /** Channels without recent activity before these messages. */
  readonly dormantChannelIds: readonly ChannelId[];
}

/** The mentions of a text. */
interface Mentioning {
  readonly rendered: Pick<References, 'mentions'>;
}

/** Reads the facts for messages that are already stored, in at most seven statements. */
export async function readRecipientFacts(
  db: Db,
  messages: readonly Message[],
  texts: readonly Mentioning[],
): Promise<RecipientFacts> {
  const groupIds = texts.flatMap(({ rendered }) => rendered.mentions.groupIds);
  const withTopicWildcard = messages.filter((_, index) => texts[index]?.rendered.mentions.topicWildcard);
  const subscribers = await readSubscribers(db, messages);
  const participants = await readParticipantsOf(db, messages);
  const recipients = [subscribers.subscribers, participants].flatMap((lists) => [...lists.values()].flat());
  return {
    ...subscribers,
    participants,
    groupMembers: await membersAmong(db, recipients, [...new Set(groupIds)]),
    topicSenders: await readTopicSenders(db, withTopicWildcard),
  };
}

/**
 * Returns the copies of a message, ordered by user id: one per subscriber or participant. A mentioned user without a
 * copy is not notified.
 */
export function copiesOf(
  message: Message,
  mentions: References['mentions'],
  facts: RecipientFacts,
  readBy: readonly UserId[] = [],
): MessageCopy[] {
  const { channelId, conversationId } = message;
  const userIds =
    channelId === undefined ? facts.participants.get(conversationId ?? 0) : facts.subscribers.get(channelId);
  const [read, flagsOf] = [new Set(readBy), mentionFlags(message, mentions, facts)];
  return (userIds ?? []).map((userId) => ({
    userId,
    flags: flagsOf(userId) | (read.has(userId) ? messageFlags.read : 0),
  }));
}

/** Groups users by the flags of their copies of a message. */
export function usersByFlags(copies: readonly MessageCopy[]): ReadonlyMap<number, readonly UserId[]> {
  const alike = [...groupedBy(copies, ({ flags }) => flags)];
  return new Map(alike.map(([flags, same]) => [flags, same.map(({ userId }) => userId)]));
}

/** Returns a function that computes the mention flags of a text for a user. */
export function mentionFlags(
  message: Pick<Message, 'channelId' | 'topic'>,
  mentions: References['mentions'],
  facts: Pick<RecipientFacts, 'groupMembers' | 'topicSenders'>,
): (userId: UserId) => number {
  const users = new Set(mentions.userIds);
  const inGroups = new Set(mentions.groupIds.flatMap((id) => [...(facts.groupMembers.get(id) ?? [])]));
  const inTopic = mentions.topicWildcard ? facts.topicSenders.get(topicId(message)) : undefined;
  const wildcardFlag = mentions.channelWildcard ? messageFlags.stream_wildcard_mentioned : 0;
  return (userId) =>
    wildcardFlag |
    (users.has(userId) ? messageFlags.mentioned : 0) |
    (inGroups.has(userId) ? messageFlags.mentioned | messageFlags.group_mentioned : 0) |
    (inTopic?.has(userId) ? messageFlags.topic_wildcard_mentioned : 0);
}

/** Returns a key of a topic that is unique across all channels. */
export function topicId({ channelId, topic }: Pick<Message, 'channelId' | 'topic'>): string {
  return `${channelId} ${topic.toLowerCase()}`;
}

async function readSubscribers(
  db: Db,
  messages: readonly Message[],
): Promise<Pick<RecipientFacts, 'subscribers' | 'publicChannelIds' | 'dormantChannelIds'>> {
  const ids = [...new Set(messages.flatMap(({ channelId }) => channelId ?? []))];
  if (ids.length === 0) return { subscribers: new Map(), publicChannelIds: new Set(), dormantChannelIds: [] };
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    // Aggregates the ids into one string, because transferring thousands of rows takes longer than finding them.
    .select([
      'channel_id',
      sql<string>`string_agg(cast(user_id as text), ',' order by user_id)`.as('user_ids'),
    ])
    .where(isAmong(db, 'channel_id', 'integer', ids))
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .groupBy('channel_id')
    .execute();
  const sentAt = Math.max(...messages.map((message) => message.sentAt));
  const channels = await db
    .selectFrom('channels')
    .select(['id', 'is_private', isDormant(sentAt).as('is_dormant')])
    .where('id', 'in', amongNumbers(db, ids))
    .execute();
  const subscribers = new Map(rows.map(({ channel_id, user_ids }) => [channel_id, readUserIds(user_ids)]));
  const idsOf = (chosen: (channel: (typeof channels)[number]) => boolean) =>
    channels.filter(chosen).map(({ id }) => id);
  return {
    subscribers,
    publicChannelIds: new Set(idsOf(({ is_private }) => is_private === 0)),
    dormantChannelIds: idsOf(({ is_dormant }) => is_dormant === 1),
  };
}

async function readParticipantsOf(
  db: Db,
  messages: readonly Message[],
): Promise<RecipientFacts['participants']> {
  const ids = [...new Set(messages.flatMap(({ conversationId }) => conversationId ?? []))];
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('conversations')
    .selectAll()
    .where('id', 'in', amongNumbers(db, ids))
    .execute();
  const all = rows.flatMap(({ participants }) => readUserIds(participants));
  const active = await db
    .selectFrom('users')
    .select('id')
    .where('id', 'in', amongNumbers(db, all))
    .where('is_active', '=', 1)
    .execute();
  const activeIds = new Set(active.map(({ id }) => id));
  return new Map(
    rows.map(({ id, participants }) => [
      id,
      readUserIds(participants).filter((userId) => activeIds.has(userId)),
    ]),
  );
}

/**
 * Returns the users who have sent messages to the topics of these messages and therefore participate in them, in one
 * statement.
 */
export async function readTopicSenders(
  db: Db,
  places: readonly Pick<Message, 'channelId' | 'topic'>[],
): Promise<RecipientFacts['topicSenders']> {
  const senders = new Map<string, Set<UserId>>();
  const wanted = places.flatMap(({ channelId, topic }) =>
    channelId === undefined ? [] : [{ channel_id: channelId, topic: topic.toLowerCase() }],
  );
  if (wanted.length === 0) return senders;
  const table = rowsAsTable(db, 'v', { channel_id: 'integer', topic: 'text' }, wanted);
  const { rows } = await sql<{ channel_id: ChannelId; topic: string; sender_id: UserId }>`
    select distinct v.channel_id, v.topic, messages.sender_id
    from ${table} join messages on messages.channel_id = v.channel_id and messages.topic_lower = v.topic`.execute(
    db,
  );
  for (const { channel_id, topic, sender_id } of rows) {
    const key = topicId({ channelId: channel_id, topic });
    const known = senders.get(key);
    if (known === undefined) senders.set(key, new Set([sender_id]));
    else known.add(sender_id);
  }
  return senders;
}
