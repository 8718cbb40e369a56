import { operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../../context.js';
import { user } from '../../../platform/authentication/authenticate.js';
import { findWindowIds } from '../narrow/find-window.js';
import { readNarrowCondition } from '../narrow/narrow-condition.js';
import { readWindow, windowParameters } from '../window-parameters.js';
import { changeFlags } from './change-flags.js';
import { flagParameters, requireChangeableFlag } from './flag-parameters.js';

/**
 * `POST /api/v1/messages/flags/narrow` (docs/chat-api.md#common-conventions): like `POST /messages/flags`, but for the
 * messages around an anchor in a narrow. Errors: BAD_NARROW if the narrow is invalid for the user; BAD_REQUEST as for
 * `POST /messages/flags`.
 */
export const updateFlagsOfNarrow = operation({
  method: 'POST',
  path: '/api/v1/messages/flags/narrow',
  summary: "Adds or removes a flag on the user's copies of messages in a narrow.",
  actor: user,
  parameters: z.object({ ...windowParameters, ...flagParameters }),
  answer: z.object({
    processed_count: z.number().int(),
    updated_count: z.number().int(),
    first_processed_id: z.number().int().nullable(),
    last_processed_id: z.number().int().nullable(),
    found_oldest: z.boolean(),
    found_newest: z.boolean(),
    ignored_because_not_subscribed_channels: z.array(z.number().int()),
  }),
  codes: ['BAD_REQUEST', 'BAD_NARROW'],
  async handle(context: ServerContext, { actor, parameters }) {
    const flag = requireChangeableFlag(parameters.flag);
    const window = readWindow(parameters);
    const { narrow: terms = [], op } = parameters;
    return actor.change(async (transaction, locked) => {
      const narrow = await readNarrowCondition(transaction.db, context.realm, locked, terms);
      const found = await findWindowIds(transaction.db, locked, narrow, window);
      const { found: messageIds, foundNewest, foundOldest } = found;
      const change = await changeFlags(transaction, context, locked, { messageIds, op, flag });
      return {
        processed_count: messageIds.length,
        updated_count: change.changedIds.length,
        first_processed_id: messageIds[0] ?? null,
        last_processed_id: messageIds.at(-1) ?? null,
        found_oldest: foundOldest,
        found_newest: foundNewest,
        ignored_because_not_subscribed_channels: [...change.ignoredChannelIds],
      };
    });
  },
});
