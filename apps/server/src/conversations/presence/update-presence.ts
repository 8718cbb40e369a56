import { booleanParameter, integerParameter, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { oneOf } from '../../people/realm/setting-shapes.js';
import { user } from '../../platform/authentication/authenticate.js';
import { requireHuman } from '../../platform/authentication/require-member.js';

/** The response to presence requests: no users are present. The update id -1 means that there has been no update. */
export const noPresences = { presences: {}, presence_last_update_id: -1 } as const;

export const presenceShape = z.object({
  presences: z.record(z.string(), z.never()),
  server_timestamp: z.number(),
  presence_last_update_id: z.number().int(),
});

/**
 * `POST /api/v1/users/me/presence`: accepts and ignores the user's presence, and responds that no users are present.
 * Errors: BAD_REQUEST for bots.
 */
export const updatePresence = operation({
  method: 'POST',
  path: '/api/v1/users/me/presence',
  summary: 'Accepts and ignores a presence status; no client is notified.',
  actor: user,
  parameters: z.object({
    status: oneOf(['active', 'idle']),
    ping_only: booleanParameter.optional(),
    new_user_input: booleanParameter.optional(),
    slim_presence: booleanParameter.optional(),
    last_update_id: integerParameter.optional(),
    history_limit_days: integerParameter.optional(),
  }),
  answer: presenceShape,
  codes: ['BAD_REQUEST'],
  async handle({ clock }: ServerContext, { actor }) {
    requireHuman(actor);
    return { ...noPresences, server_timestamp: clock() / 1000 };
  },
});
