import { refused } from '@waxwing/protocol';
import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../../platform/authentication/authenticate.js';
import { readChannelAccess } from './channel-access.js';
import { seesChannel } from './channel-rules.js';
import { findChannelsNamed } from './channel-store.js';

/**
 * `GET /api/v1/get_stream_id`: returns the id of the channel with this name (case-insensitive). Errors: BAD_REQUEST
 * if the channel does not exist or the user cannot see it.
 */
export const getChannelId = operation({
  method: 'GET',
  path: '/api/v1/get_stream_id',
  summary: 'Returns the id of the channel with a given name.',
  actor: user,
  parameters: z.object({ stream: z.string() }),
  answer: z.object({ stream_id: z.number().int() }),
  codes: ['BAD_REQUEST'],
  async handle({ database: { db } }: ServerContext, { actor, parameters }) {
    const wanted = parameters.stream.trim().toLowerCase();
    const named = await findChannelsNamed(db, wanted);
    const [found] = [...(await readChannelAccess(db, actor, named)).values()].filter(seesChannel);
    if (found === undefined) throw refused(`Invalid channel name '${parameters.stream.slice(0, 100)}'`);
    return { stream_id: found.channel.id };
  },
});
