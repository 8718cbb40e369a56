import type { ChannelId, MessageId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerContext } from '../../../context.js';
import type { PermissionName } from '../../../people/permissions/permission-settings.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import { readRealmSettings } from '../../../people/realm/realm-setting-store.js';
import type { RealmSettingValues } from '../../../people/realm/realm-settings.js';
import { noChannel } from '../../../people/realm/realm-settings.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { readChannelAccess } from '../../channels/channel-access.js';
import type { LockedMessage } from '../lock-message.js';
import { type Message, topicKey } from '../message-store.js';
import { realmPermissionsOf } from '../realm-permissions-of.js';
import { topicProblem } from '../topic-text.js';
import type { CountedTopic, EditFacts } from './edit-facts.js';
import { isBoundByTime, movableAfter } from './edit-limits.js';
import { type EditRequest, isMove, wantedMove } from './edit-request.js';
import { pagesOfTopic } from './pages-of-topic.js';
import { type RenderedContent, readContentFacts } from './read-content-facts.js';

const asked = [
  'can_mention_many_users_group',
  'can_move_messages_between_channels_group',
  'can_move_messages_between_topics_group',
  'can_resolve_topics_group',
] as const satisfies PermissionName<'realm'>[];

/**
 * A requested edit, with its content rendered before any locks are taken. `content` is `undefined` if the content does
 * not change.
 */
export interface AskedEdit {
  readonly requested: EditRequest;
  readonly content: RenderedContent | undefined;
}

/** Reads the facts that {@link planEdit} needs, for a locked message. */
export async function readEditFacts(
  { db }: ServerTransaction,
  { clock }: Pick<ServerContext, 'clock'>,
  actor: PermissionHolder,
  { message, channels }: LockedMessage,
  { requested, content }: AskedEdit,
): Promise<EditFacts> {
  const access = await readChannelAccess(db, actor, channels);
  const settings = await readRealmSettings(db);
  const now = clock();
  return {
    now,
    actor,
    settings,
    held: await realmPermissionsOf(db, actor, asked),
    message,
    origin: access.get(message?.channelId ?? noChannel),
    target: access.get(requested.channelId ?? noChannel),
    content: message && content && (await readContentFacts(db, actor, message, requested, content)),
    ...(await readTopicFacts(db, { actor, message, requested, settings, now })),
  };
}

interface TopicQuestion {
  readonly actor: PermissionHolder;
  readonly message: Message | undefined;
  readonly requested: EditRequest;
  readonly settings: RealmSettingValues;
  readonly now: number;
}

async function readTopicFacts(
  db: Kysely<ServerTables>,
  { actor, message, requested, settings, now }: TopicQuestion,
): Promise<Pick<EditFacts, 'counted' | 'isTopicNew'>> {
  const unasked = { counted: undefined, isTopicNew: false };
  if (message?.channelId === undefined) return unasked;
  const move = wantedMove(requested, message);
  // Does not look up an invalid topic, because databases reject some characters. A later check rejects the topic.
  if (!isMove(move) || topicProblem(move.topic) !== undefined) return unasked;
  const after = isBoundByTime(actor.role) ? movableAfter(settings, move, now) : undefined;
  const isCounted = requested.propagateMode === 'change_all' && after !== undefined;
  return {
    counted: isCounted ? await countTopic(db, actor, message, after) : undefined,
    isTopicNew: !(await hasMessages(db, move.channelId ?? message.channelId, move.topic)),
  };
}

async function countTopic(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  { channelId, topic }: Message,
  after: number,
): Promise<CountedTopic> {
  const counted = { total: 0, movable: 0, firstMovableId: null as MessageId | null };
  const location = { channelId: channelId as ChannelId, topic };
  for await (const page of pagesOfTopic(db, location, { reader: actor })) {
    const movable = page.filter(({ sent_at }) => sent_at > after);
    counted.total += page.length;
    counted.movable += movable.length;
    counted.firstMovableId ??= movable[0]?.id ?? null;
  }
  return counted;
}

async function hasMessages(db: Kysely<ServerTables>, channelId: ChannelId, topic: string): Promise<boolean> {
  const row = await db
    .selectFrom('messages')
    .select('id')
    .where('channel_id', '=', channelId)
    .where('topic_lower', '=', topicKey(topic))
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
