import { integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { noSuchUser } from '../../people/users/no-such-user.js';
import { findDetails } from '../../people/users/user-details.js';
import { readVisibilityOf } from '../../people/users/user-visibility.js';
import { user } from '../../platform/authentication/authenticate.js';
import { readKnownChannels } from '../channels/known-channels.js';

/**
 * `GET /api/v1/users/{user_id}/channels`: returns the ids of the channels that a user or bot is subscribed to and that
 * the actor can see, in ascending order. Excludes archived channels. Errors: BAD_REQUEST for users that the actor
 * cannot see.
 */
export const getUserChannels = operation({
  method: 'GET',
  path: '/api/v1/users/{user_id}/channels',
  summary: "Returns the ids of a user's channels.",
  actor: user,
  parameters: z.object({ user_id: integerParameter.brand<'UserId'>() }),
  answer: z.object({ subscribed_channel_ids: z.array(z.number().int()) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const target = await findDetails(db, { kind: 'id', id: parameters.user_id }, actor);
    const sees = await readVisibilityOf(db, actor, [parameters.user_id]);
    if (target === undefined || !sees(target)) throw noSuchUser();
    const rows = await db
      .selectFrom('subscriptions')
      .select('channel_id')
      .where('user_id', '=', target.id)
      .where('is_active', '=', 1)
      .execute();
    const known = await readKnownChannels(
      db,
      actor,
      rows.map(({ channel_id }) => channel_id),
    );
    const active = known.filter(({ channel }) => !channel.isArchived);
    return { subscribed_channel_ids: active.map(({ channel }) => channel.id) };
  },
});
