import { randomUUID } from 'node:crypto';
import { operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { initialStateShape, readInitialState } from '../initial-state.js';
import { featureLevel, realmLimits } from '../realm/realm-limits.js';
import { user } from '../users/authenticate.js';
import { insertQueue } from './event-queue-store.js';

/** After so long without an answer a client may give a poll up; well beyond when each is answered. */
const longPollPatienceSeconds = 90;

const eventTypes = z.array(z.string('must be a list of texts').max(100), 'must be a list').max(100);

/** Those that make a difference here; newer clients have others. */
const clientCapabilities = z.looseObject(
  { include_deactivated_groups: z.boolean('must be true or false').optional() },
  'must be an object',
);

/**
 * `POST /api/v1/register` (chat API, common conventions): an event queue for the types in `event_types`, a JSON array,
 * or for all types; and what a client must know of the organisation: always the limits, and the state behind the types in
 * `fetch_event_types`, which are those of the queue where nothing is said. Refuses with UNAUTHORIZED, INVALID_API_KEY or
 * BAD_REQUEST.
 */
export const registerEventQueue = operation({
  method: 'POST',
  path: '/api/v1/register',
  summary: 'Makes an event queue and answers what a client must know of the organisation.',
  actor: user,
  parameters: z.object({
    event_types: optionalJsonParameter(eventTypes),
    fetch_event_types: optionalJsonParameter(eventTypes),
    client_capabilities: optionalJsonParameter(clientCapabilities),
  }),
  answer: z.object({
    queue_id: z.string(),
    last_event_id: z.number().int(),
    zulip_feature_level: z.number().int(),
    user_id: z.number().int(),
    ...initialStateShape.shape,
    realm_uuid: z.string(),
    realm_name: z.string(),
    realm_url: z.string(),
    max_topic_length: z.number().int(),
    max_message_length: z.number().int(),
    max_stream_name_length: z.number().int(),
    max_stream_description_length: z.number().int(),
    realm_empty_topic_display_name: z.string(),
    event_queue_longpoll_timeout_seconds: z.number().int(),
    push_devices: z.record(
      z.string(),
      z.object({ status: z.enum(['pending', 'active', 'failed']), error_code: z.string().nullable() }),
    ),
  }),
  codes: [],
  async handle(context: ServerContext, { actor, parameters }) {
    const { event_types, fetch_event_types = event_types, client_capabilities } = parameters;
    const { queueListeners, clock, database, realm, serverPush } = context;
    const queueId = randomUUID();
    const now = clock();
    await database.write(async (transaction) => {
      const queue = { queueId, userId: actor.id, eventTypes: event_types };
      const surplus = await insertQueue(transaction.db, queue, now);
      for (const gone of surplus) await queueListeners.notify(transaction, gone);
    });
    return {
      queue_id: queueId,
      last_event_id: -1,
      zulip_feature_level: featureLevel,
      user_id: actor.id,
      realm_uuid: realm.uuid,
      realm_name: realm.name,
      realm_url: realm.url,
      // Read after the queue was made: whatever changes from here on is in the queue.
      ...(await readInitialState(database.db, fetch_event_types, {
        includesDeactivatedGroups: client_capabilities?.include_deactivated_groups ?? false,
      })),
      ...realmLimits,
      event_queue_longpoll_timeout_seconds: longPollPatienceSeconds,
      push_devices: await serverPush.pushDevicesOf(actor.id),
    };
  },
});
