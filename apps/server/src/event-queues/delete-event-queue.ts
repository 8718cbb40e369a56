import type { Operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { authenticateUser } from '../users/authenticate.js';
import type { KnownUser } from '../users/user-store.js';
import { badEventQueue } from './bad-event-queue.js';
import { deleteQueue, findQueue } from './event-queue-store.js';

const parameters = z.object({ queue_id: z.string() });

/**
 * `DELETE /api/v1/events` (chat API section 10): deletes an event queue of the requester. Refuses with UNAUTHORIZED,
 * INVALID_API_KEY, REQUEST_VARIABLE_MISSING, or BAD_EVENT_QUEUE_ID, which echoes `queue_id`, for a queue that is not
 * there, was deleted already or is another user's.
 */
export function deleteEventQueue({ bell, clock, database }: ServerContext): Operation<KnownUser> {
  return {
    method: 'DELETE',
    path: '/api/v1/events',
    authenticate: (head) => authenticateUser(database, head),
    async handle(request, user) {
      const { queue_id: queueId } = request.parameters(parameters);
      const now = clock();
      const isDeleted = await database.write(async (transaction) => {
        const isLive = (await findQueue(transaction.db, user.id, queueId, now)) !== undefined;
        const isDeleted = await deleteQueue(transaction.db, user.id, queueId);
        if (isDeleted) await bell.ring(transaction, queueId);
        return isLive && isDeleted;
      });
      if (!isDeleted) throw badEventQueue(queueId);
      return {};
    },
  };
}
