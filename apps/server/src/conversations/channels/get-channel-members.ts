import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from './channel-id-parameter.js';
import { readSubscribers } from './channel-subscribers.js';
import { requireKnownChannel } from './known-channels.js';

/**
 * `GET /api/v1/streams/{stream_id}/members`: returns the ids of the channel's active subscribers. Errors: BAD_REQUEST
 * if the channel does not exist or the user cannot see it.
 */
export const getChannelMembers = operation({
  method: 'GET',
  path: '/api/v1/streams/{stream_id}/members',
  summary: "Returns the ids of a channel's subscribers.",
  actor: user,
  parameters: z.object({ stream_id: channelIdParameter }),
  answer: z.object({ subscribers: z.array(z.number().int()) }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const { id } = await requireKnownChannel(db, actor, parameters.stream_id);
    return { subscribers: (await readSubscribers(db, [id])).get(id) ?? [] };
  },
});
