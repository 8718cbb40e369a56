import { randomUUID } from 'node:crypto';
import type { JsonObject } from '@waxwing/protocol';
import { operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import { holdUser, user } from '../authentication/authenticate.js';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import { clientCapabilitiesShape } from '../event-queues/client-capabilities.js';
import { insertQueue } from '../event-queues/event-queue-store.js';
import type { AskingClient } from '../event-queues/initial-state.js';
import { featureLevel } from '../realm/realm-limits.js';
import { initialStates } from './initial-states.js';

/** After so long without an answer a client may give a poll up; well beyond when each is answered. */
const longPollPatienceSeconds = 90;

const eventTypes = z.array(z.string('must be a list of texts').max(100), 'must be a list').max(100);

/** Each field that some part of the initial state fills, where its type is fetched. */
const states = initialStates.reduce((all, { shape }) => all.extend(shape.partial().shape), z.object({}));

/**
 * `POST /api/v1/register` (chat API, common conventions): an event queue for the types in `event_types`, a JSON array,
 * or for all types; and what a client must know of the organisation: of the types in `fetch_event_types`, or of those
 * that the queue gets where that is not said. Refuses with UNAUTHORIZED, INVALID_API_KEY or BAD_REQUEST.
 */
export const registerEventQueue = operation({
  method: 'POST',
  path: '/api/v1/register',
  summary: 'Makes an event queue and answers what a client must know of the organisation.',
  actor: user,
  parameters: z.object({
    event_types: optionalJsonParameter(eventTypes),
    fetch_event_types: optionalJsonParameter(eventTypes),
    client_capabilities: optionalJsonParameter(clientCapabilitiesShape),
  }),
  answer: z.object({
    queue_id: z.string(),
    last_event_id: z.number().int(),
    zulip_feature_level: z.number().int(),
    user_id: z.number().int(),
    event_queue_longpoll_timeout_seconds: z.number().int(),
    ...states.shape,
  }),
  codes: [],
  async handle(context: ServerContext, { actor, parameters }) {
    const { event_types: types, fetch_event_types: fetched = types } = parameters;
    const { client_capabilities: capabilities = [] } = parameters;
    const queueId = await makeQueue(context, actor, { types, capabilities });
    return {
      queue_id: queueId,
      last_event_id: -1,
      zulip_feature_level: featureLevel,
      user_id: actor.id,
      event_queue_longpoll_timeout_seconds: longPollPatienceSeconds,
      ...(await fetchStates(context, actor, { types: fetched, capabilities })),
    };
  },
});

interface Asked extends AskingClient {
  /** All where nothing is said. */
  readonly types: readonly string[] | undefined;
}

async function makeQueue(
  { clock, database, queueListeners }: ServerContext,
  actor: KnownUser,
  { types, capabilities }: Asked,
): Promise<string> {
  const queueId = randomUUID();
  const now = clock();
  const { id: userId } = actor;
  await database.write(async (transaction) => {
    await holdUser(transaction, actor);
    const queue = { queueId, userId, eventTypes: types, capabilities };
    const surplus = await insertQueue(transaction.db, queue, now);
    for (const gone of surplus) await queueListeners.notify(transaction, gone);
  });
  return queueId;
}

async function fetchStates(
  context: ServerContext,
  actor: KnownUser,
  { types, capabilities }: Asked,
): Promise<JsonObject> {
  const wanted = initialStates.filter(({ eventType }) => types?.includes(eventType) ?? true);
  const parts = await Promise.all(wanted.map((state) => state.fetch(context, actor, { capabilities })));
  return Object.assign({}, ...parts) as JsonObject;
}
