import { jsonParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { possibleMessageIdList } from '../../../people/permissions/id-lists.js';
import { user } from '../../../platform/authentication/authenticate.js';
import { changeFlags } from './change-flags.js';
import { flagParameters, requireChangeableFlag } from './flag-parameters.js';

const maximumIds = 10_000;
const messageIdList = possibleMessageIdList.max(maximumIds, `must have at most ${maximumIds} ids`);

/**
 * `POST /api/v1/messages/flags` (docs/chat-api.md#common-conventions): adds or removes a flag on the user's copies of
 * messages. For `read`, unreadable messages are skipped. Errors: BAD_REQUEST for flags that clients cannot change, and
 * for unreadable messages if the flag is not `read`.
 */
export const updateFlags = operation({
  method: 'POST',
  path: '/api/v1/messages/flags',
  summary: "Adds or removes a flag on the user's copies of messages.",
  actor: user,
  parameters: z.object({ messages: jsonParameter(messageIdList), ...flagParameters }),
  bodyLimitBytes: 512 * 1024,
  answer: z.object({
    messages: z.array(z.number().int()),
    ignored_because_not_subscribed_channels: z.array(z.number().int()),
  }),
  codes: ['BAD_REQUEST'],
  async handle(context: ServerContext, { actor, parameters }) {
    const { messages: messageIds, op } = parameters;
    const flag = requireChangeableFlag(parameters.flag);
    return actor.change(async (transaction, locked) => {
      const { ignoredChannelIds } = await changeFlags(transaction, context, locked, { messageIds, op, flag });
      return { messages: messageIds, ignored_because_not_subscribed_channels: [...ignoredChannelIds] };
    });
  },
});
