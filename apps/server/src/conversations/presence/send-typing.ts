import { type ProtocolError, refused } from '@waxwing/protocol';
import { noAnswer, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { oneOf, textOfAtMost } from '../../people/realm/setting-shapes.js';
import { user } from '../../platform/authentication/authenticate.js';
import { channelIdParameter } from '../channels/channel-id-parameter.js';

const maximumRecipients = 1000;
const maximumTopicCharacters = 200;
const recipients = z
  .array(z.number('must be a user id').int('must be a user id'), 'must be a list of user ids')
  .max(maximumRecipients, `must have at most ${maximumRecipients} user ids`);

/**
 * `POST /api/v1/typing`: accepts and ignores typing notifications. Other users are not notified. Errors: BAD_REQUEST if
 * the recipient is missing.
 */
export const sendTyping = operation({
  method: 'POST',
  path: '/api/v1/typing',
  summary: 'Accepts and ignores a typing status; no client is notified.',
  actor: user,
  parameters: z.object({
    op: oneOf(['start', 'stop']),
    type: oneOf(['direct', 'private', 'stream', 'channel']).default('direct'),
    to: optionalJsonParameter(recipients),
    stream_id: channelIdParameter.optional(),
    topic: textOfAtMost(maximumTopicCharacters).optional(),
  }),
  answer: noAnswer,
  codes: ['BAD_REQUEST'],
  async handle(_context: ServerContext, { parameters }) {
    const { type, to = [], stream_id: channelId, topic } = parameters;
    const isDirect = type === 'direct' || type === 'private';
    if (isDirect && to.length === 0) throw missing('to');
    if (!isDirect && channelId === undefined) throw missing('stream_id');
    if (!isDirect && topic === undefined) throw missing('topic');
    return {};
  },
});

function missing(name: string): ProtocolError {
  return refused(`Missing '${name}' argument`);
}
