import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { noSuchUser } from '../../people/users/no-such-user.js';
import { findDetails } from '../../people/users/user-details.js';
import { readVisibilityOf } from '../../people/users/user-visibility.js';
import { user } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';
import { requireKnownChannel } from '../channels/known-channels.js';

/**
 * `GET /api/v1/users/{user_id}/subscriptions/{stream_id}`: returns whether a user is subscribed to a channel. Errors:
 * BAD_REQUEST for users and channels that the actor cannot see.
 */
export const getSubscriptionStatus = operation({
  method: 'GET',
  path: '/api/v1/users/{user_id}/subscriptions/{stream_id}',
  summary: 'Returns whether a user is subscribed to a channel.',
  actor: user,
  parameters: z.object({ user_id: integerParameter.brand<'UserId'>(), stream_id: channelIdParameter }),
  answer: z.object({ is_subscribed: z.boolean() }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const target = await findDetails(db, { kind: 'id', id: parameters.user_id }, actor);
    const sees = await readVisibilityOf(db, actor, [parameters.user_id]);
    if (target === undefined || !sees(target)) throw noSuchUser();
    const { id } = await requireKnownChannel(db, actor, parameters.stream_id);
    const row = await db
      .selectFrom('subscriptions')
      .select('is_active')
      .where('user_id', '=', target.id)
      .where('channel_id', '=', id)
      .executeTakeFirst();
    return { is_subscribed: row?.is_active === 1 };
  },
});
