import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerPushContext } from '../context.js';
import { person } from '../person.js';

/**
 * `DELETE /api/v1/events`, for hosts without a chat API. There are no queues to delete. The request succeeds anyway, so
 * that clients behave as with a chat API.
 */
export const deleteEventQueue = operation({
  method: 'DELETE',
  path: '/api/v1/events',
  summary: 'Deletes an event queue.',
  actor: person,
  parameters: z.object({ queue_id: z.string() }),
  answer: noAnswer,
  codes: [],
  async handle(_context: Pick<ServerPushContext, 'authenticate'>) {
    return {};
  },
});
