import { randomUUID } from 'node:crypto';
import type { Operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { featureLevel, realmLimits } from '../realm/realm-limits.js';
import { authenticateUser } from '../users/authenticate.js';
import type { KnownUser } from '../users/user-store.js';
import { jsonParameter } from '../wire-parameters.js';
import { insertQueue } from './event-queue-store.js';

const eventTypes = z.array(z.string('must be a list of texts').max(100), 'must be a list').max(100);
const parameters = z.object({ event_types: jsonParameter(eventTypes).optional() });

/**
 * `POST /api/v1/register` (chat API, common conventions): an event queue for the types in `event_types`, a JSON array,
 * or for all types; and what a client must know of the organisation. Refuses with UNAUTHORIZED, INVALID_API_KEY or
 * BAD_REQUEST.
 */
export function registerEventQueue(context: ServerContext): Operation<KnownUser> {
  const { bell, clock, database, longPollTimeoutSeconds, realm, serverPush } = context;
  return {
    method: 'POST',
    path: '/api/v1/register',
    authenticate: (head) => authenticateUser(database, head),
    async handle(request, user) {
      const { event_types } = request.parameters(parameters);
      const queueId = randomUUID();
      const now = clock();
      await database.write(async (transaction) => {
        const queue = { queueId, userId: user.id, eventTypes: event_types };
        const surplus = await insertQueue(transaction.db, queue, now);
        for (const gone of surplus) await bell.ring(transaction, gone);
      });
      return {
        queue_id: queueId,
        last_event_id: -1,
        zulip_feature_level: featureLevel,
        user_id: user.id,
        realm_uuid: realm.uuid,
        realm_name: realm.name,
        realm_url: realm.url,
        ...realmLimits,
        event_queue_longpoll_timeout_seconds: longPollTimeoutSeconds,
        // Read after the queue was made: whatever changes from here on is in the queue.
        push_devices: await serverPush.pushDevicesOf(user.id),
      };
    },
  };
}
