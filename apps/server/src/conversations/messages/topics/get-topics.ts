import { type ChannelId, refused } from '@waxwing/protocol';
import { booleanParameter, operation } from '@waxwing/service/http';
import { sql } from 'kysely';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { user } from '../../../platform/authentication/authenticate.js';
import { channelIdParameter } from '../../channels/channel-id-parameter.js';
import { isReadable, readableChannels } from '../message-access.js';
import { writeTopic } from '../message-form.js';

/** Maximum number of topics in a response. The newest topics take precedence. */
const maximumTopics = 10_000;

/**
 * `GET /api/v1/users/me/{stream_id}/topics` (docs/chat-api.md#common-conventions): returns the newest topics of a
 * channel with messages that the user may read, ordered by their newest message, latest first. Each topic is spelled as
 * in its newest message. Errors: BAD_REQUEST if the user cannot read the channel.
 */
export const getTopics = operation({
  method: 'GET',
  path: '/api/v1/users/me/{stream_id}/topics',
  summary: 'Lists the topics of a channel.',
  actor: user,
  parameters: z.object({
    stream_id: channelIdParameter,
    allow_empty_topic_name: booleanParameter.default(false),
  }),
  answer: z.object({ topics: z.array(z.object({ name: z.string(), max_id: z.number().int() })) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const { stream_id: channelId, allow_empty_topic_name: knowsEmptyTopic } = parameters;
    const channel = await db
      .selectFrom('channels')
      .select('is_history_public')
      .where('id', 'in', sql<ChannelId>`(${readableChannels(actor, sql`id = ${channelId}`)})`)
      .executeTakeFirst();
    if (channel === undefined) throw refused('Invalid channel ID');
    const isAllReadable = channel.is_history_public === 1;
    const newest = db
      .selectFrom('messages')
      .select((is) => is.fn.max('id').as('id'))
      .where('channel_id', '=', channelId)
      .$if(!isAllReadable, (query) => query.where(isReadable(actor)))
      .groupBy('topic_lower')
      .orderBy('id', 'desc')
      .limit(maximumTopics);
    const rows = await db
      .selectFrom('messages')
      .select(['id', 'topic'])
      .where('id', 'in', db.selectFrom(newest.as('newest')).select('newest.id'))
      .orderBy('id', 'desc')
      .execute();
    return {
      topics: rows.map(({ id, topic }) => ({ name: writeTopic(topic, { knowsEmptyTopic }), max_id: id })),
    };
  },
});
