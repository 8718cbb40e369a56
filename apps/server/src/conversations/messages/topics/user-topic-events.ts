import type { JsonObject, UserId } from '@waxwing/protocol';
import { unixSeconds } from '@waxwing/service/lifecycle';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { roles } from '../../../platform/authentication/roles.js';
import type { PublishedEvent } from '../../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../../tables.js';
import { eventWithTopics } from '../message-form.js';
import type { TopicPolicyRequest } from './topic-policy-request.js';
import { visibilityPolicies } from './visibility-policies.js';

/**
 * Builds the events for users' changed topic policies. A second event has the full list of muted topics, for clients
 * that support only that list.
 */
export async function userTopicEvents(
  db: Kysely<ServerTables>,
  requests: readonly TopicPolicyRequest[],
  now: number,
): Promise<PublishedEvent[]> {
  const userIds = [...new Set(requests.map(({ userId }) => userId))];
  const muted = await readMuted(db, userIds);
  return [
    ...requests.map((requested) => topicPolicyEvent(requested, now)),
    ...userIds.map((userId) => mutedEvent(userId, muted.get(userId) ?? [])),
  ];
}

function topicPolicyEvent(
  { userId, channelId, topic, policy }: TopicPolicyRequest,
  now: number,
): PublishedEvent {
  return {
    audience: [userId],
    ...eventWithTopics(
      'user_topic',
      (named): JsonObject => ({
        stream_id: channelId,
        topic_name: named(topic),
        last_updated: unixSeconds(now),
        visibility_policy: policy,
      }),
    ),
  };
}

type MutedTopic = Awaited<ReturnType<typeof readMutedRows>>[number];

function mutedEvent(userId: UserId, muted: readonly MutedTopic[]): PublishedEvent {
  return {
    audience: [userId],
    withheldWith: 'user_topic',
    ...eventWithTopics(
      'muted_topics',
      (named): JsonObject => ({
        muted_topics: muted.map(({ name, topic, updated_at }) => [
          name,
          named(topic),
          unixSeconds(updated_at),
        ]),
      }),
    ),
  };
}

async function readMuted(
  db: Kysely<ServerTables>,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, readonly MutedTopic[]>> {
  const rows = await readMutedRows(db, userIds);
  return new Map(userIds.map((userId) => [userId, rows.filter(({ user_id }) => user_id === userId)]));
}

function readMutedRows(db: Kysely<ServerTables>, userIds: readonly UserId[]) {
  return (
    db
      .selectFrom('user_topics')
      .innerJoin('channels', 'channels.id', 'user_topics.channel_id')
      .innerJoin('users', 'users.id', 'user_topics.user_id')
      .leftJoin('subscriptions', (join) =>
        join
          .onRef('subscriptions.channel_id', '=', 'user_topics.channel_id')
          .onRef('subscriptions.user_id', '=', 'user_topics.user_id')
          .on('subscriptions.is_active', '=', 1),
      )
      .select(['user_topics.user_id', 'channels.name', 'topic', 'updated_at'])
      // Omits channels that the user can no longer read: the user must not see names that these channels get later.
      .where((is) =>
        is.or([
          is('channels.is_web_public', '=', 1),
          is('subscriptions.user_id', 'is not', null),
          is.and([is('channels.is_private', '=', 0), is('users.role', '<>', roles.guest)]),
        ]),
      )
      .where('user_topics.user_id', 'in', amongNumbers(db, userIds))
      .where('visibility_policy', '=', visibilityPolicies.muted)
      .orderBy('updated_at')
      .orderBy('user_topics.channel_id')
      .orderBy('topic_lower')
      .execute()
  );
}
