import { noAnswer, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../authentication/authenticate.js';
import { badEventQueue } from './bad-event-queue.js';
import { deleteQueue, findQueue } from './event-queue-store.js';

/**
 * `DELETE /api/v1/events` (docs/chat-api.md#10-delete-an-event-queue): deletes an event queue of the user. Errors:
 * UNAUTHORIZED; INVALID_API_KEY; REQUEST_VARIABLE_MISSING; BAD_EVENT_QUEUE_ID, which echoes `queue_id`, if the queue
 * does not exist, is already deleted or belongs to another user.
 */
export const deleteEventQueue = operation({
  method: 'DELETE',
  path: '/api/v1/events',
  summary: 'Deletes an event queue.',
  actor: user,
  parameters: z.object({ queue_id: z.string() }),
  answer: noAnswer,
  codes: ['BAD_EVENT_QUEUE_ID'],
  async handle({ queueListeners, clock }: ServerContext, { actor, parameters: { queue_id: queueId } }) {
    const now = clock();
    const isDeleted = await actor.change(async (transaction) => {
      const isLive = (await findQueue(transaction.db, actor.id, queueId, now)) !== undefined;
      const isDeleted = await deleteQueue(transaction.db, actor.id, queueId);
      if (isDeleted) await queueListeners.notify(transaction, queueId);
      return isLive && isDeleted;
    });
    if (!isDeleted) throw badEventQueue(queueId);
    return {};
  },
});
