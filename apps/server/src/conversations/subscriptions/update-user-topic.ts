import { integerParameter, noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { realmLimits } from '../../people/realm/realm-limits.js';
import { textOfAtMost } from '../../people/realm/setting-shapes.js';
import { user } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';
import { requireKnownChannel } from '../channels/known-channels.js';
import { checkTopic, readTopic } from '../messages/topic-text.js';
import { requireRoomForTopicPolicy, storeTopicPolicies } from '../messages/topics/user-topic-store.js';
import { type VisibilityPolicy, visibilityPolicies } from '../messages/topics/visibility-policies.js';

const policy = integerParameter
  .refine((value) => Object.values<number>(visibilityPolicies).includes(value), 'must be from 0 to 3')
  .transform((value) => value as VisibilityPolicy)
  .meta({ openApi: { type: 'integer', minimum: 0, maximum: 3 } });

/**
 * `POST /api/v1/user_topics`: sets the user's visibility policy for a topic: muted, unmuted, followed or none. Notifies
 * the user's own clients. Errors: BAD_REQUEST for an invalid topic, for channels that the user cannot see, and for a
 * new policy if the user already has the maximum number.
 */
export const updateUserTopic = operation({
  method: 'POST',
  path: '/api/v1/user_topics',
  summary: 'Mutes, unmutes or follows a topic.',
  actor: user,
  parameters: z.object({
    stream_id: channelIdParameter,
    topic: textOfAtMost(realmLimits.max_topic_length),
    visibility_policy: policy,
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { stream_id: channelId, visibility_policy: policy } = parameters;
    const topic = readTopic(parameters.topic);
    checkTopic(topic);
    await actor.change(async (transaction, locked) => {
      await requireKnownChannel(transaction.db, locked, channelId);
      const requested = { userId: locked.id, channelId, topic, policy };
      await requireRoomForTopicPolicy(transaction.db, requested);
      await storeTopicPolicies(transaction, context, [requested]);
    });
    return {};
  },
});
