import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from './channel-id-parameter.js';
import { channelRecord } from './channel-record.js';
import { noSuchChannel } from './channel-refusals.js';
import { requireKnownChannel } from './known-channels.js';
import { readChannelRecords } from './read-channel-records.js';

/**
 * `GET /api/v1/streams/{stream_id}`: returns a channel, even if it is archived. Errors: BAD_REQUEST if the channel does
 * not exist or the user cannot see it.
 */
export const getChannel = operation({
  method: 'GET',
  path: '/api/v1/streams/{stream_id}',
  summary: 'Returns a channel.',
  actor: user,
  parameters: z.object({ stream_id: channelIdParameter }),
  answer: z.object({ stream: channelRecord }),
  codes: ['BAD_REQUEST'],
  async handle({ clock, database: { db } }: ServerContext, { actor, parameters }) {
    const channel = await requireKnownChannel(db, actor, parameters.stream_id);
    const record = (await readChannelRecords(db, [channel], clock())).get(channel.id);
    if (record === undefined) throw noSuchChannel();
    return { stream: record };
  },
});
