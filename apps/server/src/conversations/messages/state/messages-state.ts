import { unixSeconds } from '@waxwing/service/lifecycle';
import { sql } from 'kysely';
import { z } from 'zod';
import { initialState } from '../../../platform/event-queues/initial-state.js';
import { isReadable } from '../message-access.js';
import { messageFlags } from '../message-flags.js';
import { writeTopic } from '../message-form.js';
import { newestMessageId } from '../newest-message.js';
import { readUserIds } from '../related-records.js';
import { userTopicsOf } from '../topics/user-topic-store.js';
import { visibilityPolicies } from '../topics/visibility-policies.js';
import { readUnread, unreadShape } from './unread-messages.js';

const ids = z.array(z.number().int());

/** The id of the newest message that the user may read, or -1 if there is none. */
export const newestMessageState = initialState({
  eventType: 'message',
  shape: z.object({ max_message_id: z.number().int() }),
  fetch: async ({ database: { db } }, actor) => ({ max_message_id: await newestMessageId(db, actor) }),
});

/** The user's unread messages. */
export const unreadState = initialState({
  eventType: 'update_message_flags',
  alsoNeeds: 'message',
  shape: z.object({ unread_msgs: unreadShape }),
  async fetch({ database: { db } }, actor, { capabilities }) {
    const knowsEmptyTopic = capabilities.includes('empty_topic_name');
    return { unread_msgs: await readUnread(db, actor, { knowsEmptyTopic }) };
  },
});

export const starredState = initialState({
  eventType: 'starred_messages',
  shape: z.object({ starred_messages: ids }),
  async fetch({ database: { db } }, actor) {
    const rows = await db
      .selectFrom('user_messages as copy')
      .innerJoin('messages', 'messages.id', 'copy.message_id')
      .select('messages.id')
      .where('copy.user_id', '=', actor.id)
      .where(sql<boolean>`copy.flags & ${sql.raw(String(messageFlags.starred))} <> 0`)
      .where(isReadable(actor))
      .orderBy('messages.id')
      .execute();
    return { starred_messages: rows.map(({ id }) => id) };
  },
});

const maximumConversations = 1000;

/** The user's direct message conversations, the most recent first. At most 1000. */
export const conversationsState = initialState({
  eventType: 'recent_private_conversations',
  shape: z.object({
    recent_private_conversations: z.array(z.object({ user_ids: ids, max_message_id: z.number().int() })),
  }),
  async fetch({ database: { db } }, { id: userId }) {
    const rows = await db
      .selectFrom('conversation_participants as own')
      .innerJoin('conversations', 'conversations.id', 'own.conversation_id')
      .innerJoin('messages', 'messages.conversation_id', 'conversations.id')
      .select(({ fn }) => ['participants', fn.max('messages.id').as('newest')])
      .where('own.user_id', '=', userId)
      .groupBy(['conversations.id', 'participants'])
      .orderBy('newest', 'desc')
      .limit(maximumConversations)
      .execute();
    return {
      recent_private_conversations: rows.map(({ participants, newest }) => ({
        user_ids: readUserIds(participants).filter((id) => id !== userId),
        max_message_id: Number(newest),
      })),
    };
  },
});

export const userTopicsState = initialState({
  eventType: 'user_topic',
  shape: z.object({
    user_topics: z.array(
      z.object({
        stream_id: z.number().int(),
        topic_name: z.string(),
        last_updated: z.number().int(),
        visibility_policy: z.number().int(),
      }),
    ),
  }),
  async fetch({ database: { db } }, actor, { capabilities }) {
    const knowsEmptyTopic = capabilities.includes('empty_topic_name');
    const topics = await userTopicsOf(db, actor);
    return {
      user_topics: topics.map((topic) => ({
        stream_id: topic.channel_id,
        topic_name: writeTopic(topic.topic, { knowsEmptyTopic }),
        last_updated: unixSeconds(topic.updated_at),
        visibility_policy: topic.visibility_policy,
      })),
    };
  },
});

/**
 * Muted topics in the legacy format (channel name, topic, Unix seconds), for clients that do not support followed
 * topics.
 */
export const mutedTopicsState = initialState({
  eventType: 'muted_topics',
  withheldWith: 'user_topic',
  shape: z.object({ muted_topics: z.array(z.tuple([z.string(), z.string(), z.number().int()])) }),
  async fetch({ database: { db } }, actor, { capabilities }) {
    const knowsEmptyTopic = capabilities.includes('empty_topic_name');
    const muted = (await userTopicsOf(db, actor)).filter(
      (topic) => topic.visibility_policy === visibilityPolicies.muted,
    );
    return {
      muted_topics: muted.map((topic): [string, string, number] => [
        topic.channel_name,
        writeTopic(topic.topic, { knowsEmptyTopic }),
        unixSeconds(topic.updated_at),
      ]),
    };
  },
});
