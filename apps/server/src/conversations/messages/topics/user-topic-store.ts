import { refused } from '@waxwing/protocol';
import { rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerContext } from '../../../context.js';
import type { PermissionHolder } from '../../../people/permissions/permission-store.js';
import type { ServerTables, ServerTransaction } from '../../../tables.js';
import { readableChannels } from '../message-access.js';
import { topicKey } from '../message-store.js';
import type { TopicPolicyRequest } from './topic-policy-request.js';
import { userTopicEvents } from './user-topic-events.js';
import { visibilityPolicies } from './visibility-policies.js';

/** Maximum topic policies per user. Bounds the register response, which lists all of them. */
const maximumTopicPolicies = 10_000;

/** @throws ProtocolError BAD_REQUEST if the user already has the maximum number of topic policies. */
export async function requireRoomForTopicPolicy(
  db: Kysely<ServerTables>,
  { userId, channelId, topic, policy }: TopicPolicyRequest,
): Promise<void> {
  if (policy === visibilityPolicies.none) return;
  const { others } = await db
    .selectFrom('user_topics')
    .select(({ fn }) => fn.countAll().as('others'))
    .where('user_id', '=', userId)
    .where(({ not, and, eb }) =>
      not(and([eb('channel_id', '=', channelId), eb('topic_lower', '=', topicKey(topic))])),
    )
    .executeTakeFirstOrThrow();
  if (Number(others) < maximumTopicPolicies) return;
  throw refused(
    `You have muted, unmuted or followed ${maximumTopicPolicies} topics, which is the maximum: reset one of them first`,
  );
}

/**
 * Upserts users' topic policies, at most one per user and topic, and publishes events for those that `isNotified`
 * selects. Runs a constant number of statements.
 */
export async function storeTopicPolicies(
  transaction: ServerTransaction,
  { clock, publish }: Pick<ServerContext, 'clock' | 'publish'>,
  requests: readonly TopicPolicyRequest[],
  isNotified: (requested: TopicPolicyRequest) => boolean = () => true,
): Promise<void> {
  if (requests.length === 0) return;
  const { db } = transaction;
  const now = clock();
  const rows = requests.map(({ userId, channelId, topic, policy }) => ({
    user_id: userId,
    channel_id: channelId,
    topic,
    topic_lower: topicKey(topic),
    policy,
  }));
  const columns = {
    user_id: 'integer',
    channel_id: 'integer',
    topic: 'text',
    topic_lower: 'text',
    policy: 'integer',
  } as const;
  await sql`
    insert into user_topics (user_id, channel_id, topic, topic_lower, visibility_policy, updated_at)
    select v.user_id, v.channel_id, v.topic, v.topic_lower, v.policy, cast(${now} as bigint)
    from ${rowsAsTable(db, 'v', columns, rows)} where true
    on conflict (user_id, channel_id, topic_lower)
    do update set topic = excluded.topic, visibility_policy = excluded.visibility_policy,
      updated_at = excluded.updated_at`.execute(db);
  const undecided = requests.filter(({ policy }) => policy === visibilityPolicies.none);
  if (undecided.length > 0) {
    await db
      .deleteFrom('user_topics')
      .where('user_id', 'in', [...new Set(undecided.map(({ userId }) => userId))])
      .where('visibility_policy', '=', visibilityPolicies.none)
      .execute();
  }
  await publish(transaction, await userTopicEvents(db, requests.filter(isNotified), now));
}

/** Returns a user's policies for topics of channels that the user may read, the most recently changed last. */
export function userTopicsOf(db: Kysely<ServerTables>, reader: PermissionHolder) {
  const isChosen = sql`id in (select channel_id from user_topics where user_id = ${reader.id})`;
  return db
    .selectFrom('user_topics')
    .innerJoin('channels', 'channels.id', 'user_topics.channel_id')
    .select(['channel_id', 'channels.name as channel_name', 'topic', 'visibility_policy', 'updated_at'])
    .where('user_id', '=', reader.id)
    .where(sql<boolean>`channel_id in (${readableChannels(reader, isChosen)})`)
    .orderBy('updated_at')
    .orderBy('channel_id')
    .orderBy('topic_lower')
    .execute();
}
