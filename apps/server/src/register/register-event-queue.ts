import { randomUUID } from 'node:crypto';
import { type JsonObject, refused } from '@waxwing/protocol';
import { booleanParameter, integerParameter, operation, optionalJsonParameter } from '@waxwing/service/http';
import { z } from 'zod';
import type { Requester } from '../authentication/authenticate.js';
import type { KnownUser } from '../authentication/credential-store.js';
import type { ServerContext } from '../context.js';
import { type ClientCapability, clientCapabilitiesShape } from '../event-queues/client-capabilities.js';
import {
  insertQueue,
  maximumQueueLifetimeMilliseconds,
  type QueueWish,
  queueLifetimeMilliseconds,
} from '../event-queues/event-queue-store.js';
import type { AskingClient, StateContext } from '../event-queues/initial-state.js';
import { readAtOneInstant, readWithQueue } from '../event-queues/read-with-queue.js';
import { narrowShape } from '../messages/narrow/narrow-terms.js';
import { checkQueueNarrow } from '../messages/narrow/queue-filter.js';
import { roles } from '../permissions/roles.js';
import { featureLevel, serverVersion } from '../realm/realm-limits.js';
import { makeSystemBots } from '../users/system-bots.js';
import { userOrSpectator } from '../users/user-or-spectator.js';
import { avatarAlias } from '../users/user-parameters.js';
import { initialStates } from './initial-states.js';

/** After so long without an answer a client may give a poll up; well beyond when each is answered. */
const longPollPatienceSeconds = 90;

const eventTypes = z.array(z.string('must be a list of texts').max(100), 'must be a list').max(100);

/** A client that wants some of the subscribers gets all of them. */
const includeSubscribers = z
  .enum(['true', 'false', 'partial'], 'must be true, false or partial')
  .transform((text) => text !== 'false');

/** Each field that some part of the initial state fills, where its type is fetched. */
const states = initialStates.reduce((all, { shape }) => all.extend(shape.partial().shape), z.object({}));

/**
 * `POST /api/v1/register` (chat API, common conventions): an event queue for the types in `event_types`, a JSON array,
 * or for all types; and what a client must know of the organisation: of the types in `fetch_event_types`, or of those
 * that the queue gets where that is not said. The queue goes on after `last_event_id`, where the answer ends. Messages
 * come as `apply_markdown` and `client_external_avatar` say, those that meet `narrow`, and with `all_public_streams` those
 * of all public channels. The queue stays for `queue_lifespan_secs` without a request, 600 where that is less or not said.
 * Where the organisation and the server let anybody read web-public channels, whoever has no account is answered without a
 * queue, and without what is anybody's own. Refuses with UNAUTHORIZED, INVALID_API_KEY, BAD_NARROW, BAD_REQUEST, or
 * RATE_LIMIT_HIT where too many wait.
 */
export const registerEventQueue = operation({
  method: 'POST',
  path: '/api/v1/register',
  summary: 'Makes an event queue and answers what a client must know of the organisation.',
  actor: userOrSpectator,
  // In a line of its own, which is bounded.
  waitsForOthers: true,
  parameters: z.object({
    event_types: optionalJsonParameter(eventTypes),
    fetch_event_types: optionalJsonParameter(eventTypes),
    client_capabilities: optionalJsonParameter(clientCapabilitiesShape),
    client_external_avatar: optionalJsonParameter(z.boolean('must be true or false')),
    include_subscribers: includeSubscribers.default(false),
    apply_markdown: booleanParameter.default(false),
    all_public_streams: booleanParameter.default(false),
    slim_presence: booleanParameter.optional(),
    narrow: optionalJsonParameter(narrowShape),
    queue_lifespan_secs: integerParameter
      .refine((seconds) => seconds >= 0, 'must not be negative')
      .default(0),
  }),
  aliases: avatarAlias,
  answer: z.object({
    /** Null for whoever has no account. */
    queue_id: z.string().nullable(),
    last_event_id: z.number().int(),
    zulip_feature_level: z.number().int(),
    zulip_version: z.string(),
    zulip_merge_base: z.string(),
    /** Not for whoever has no account. */
    user_id: z.number().int().optional(),
    event_queue_longpoll_timeout_seconds: z.number().int(),
    ...states.shape,
  }),
  codes: ['BAD_REQUEST', 'BAD_NARROW'],
  async handle(context: ServerContext, { actor, parameters, signal }) {
    const { event_types: types, fetch_event_types: fetched = types } = parameters;
    const { client_capabilities: capabilities = [], include_subscribers: includesSubscribers } = parameters;
    const { client_external_avatar: makesAvatars = actor !== undefined } = parameters;
    const { narrow = [] } = parameters;
    checkQueueNarrow(narrow);
    const asked = { types: fetched, capabilities, makesAvatars, includesSubscribers };
    const server = {
      zulip_feature_level: featureLevel,
      ...serverVersion,
      event_queue_longpoll_timeout_seconds: longPollPatienceSeconds,
    };
    if (actor === undefined) {
      const state = await readForSpectator(context, asked, signal);
      return { queue_id: null, last_event_id: -1, ...server, ...state };
    }
    const wish = {
      eventTypes: types,
      capabilities,
      appliesMarkdown: parameters.apply_markdown,
      makesAvatars,
      hasAllPublicChannels: parameters.all_public_streams,
      narrow: narrow.length === 0 ? null : JSON.stringify(narrow),
      lifetimeMilliseconds: lifetimeOf(parameters.queue_lifespan_secs),
    };
    const register = async () => {
      // Others of the line came first: what the requester may know is judged by what they are now.
      const { queueId, held } = await makeQueue(context, actor, wish);
      const read = (db: StateContext['database']['db']) =>
        fetchStates({ ...context, database: { db } }, held, asked);
      return { queueId, ...(await readWithQueue(context.database, queueId, read)) };
    };
    const line = context.registerLine;
    const { queueId, result, lastEventId } = await line.run({ client: String(actor.id), signal }, register);
    return { queue_id: queueId, last_event_id: lastEventId, ...server, user_id: actor.id, ...result };
  },
});

function lifetimeOf(seconds: number): number {
  return Math.min(Math.max(seconds * 1000, queueLifetimeMilliseconds), maximumQueueLifetimeMilliseconds);
}

/** All of them take turns with each user as if they were one. */
async function readForSpectator(
  context: ServerContext,
  asked: Asked & AskingClient,
  signal: AbortSignal,
): Promise<JsonObject> {
  const { makesAvatars, includesSubscribers } = asked;
  const wrong = (makesAvatars && 'client_external_avatar') || (includesSubscribers && 'include_subscribers');
  if (wrong) {
    throw refused(`Invalid ${wrong}: must be false in requests without an account`);
  }
  return context.registerLine.run({ client: 'spectators', signal }, () =>
    readAtOneInstant(context.database, (db) =>
      fetchStates({ ...context, database: { db } }, undefined, asked),
    ),
  );
}

interface Asked {
  /** All where nothing is said. */
  readonly types: readonly string[] | undefined;
  readonly capabilities: readonly ClientCapability[];
}

async function makeQueue(
  { clock, queueListeners }: ServerContext,
  actor: Requester,
  wish: QueueWish,
): Promise<{ readonly queueId: string; readonly held: KnownUser }> {
  const queueId = randomUUID();
  const now = clock();
  const { id: userId } = actor;
  return actor.change(async (transaction, held) => {
    if (wish.hasAllPublicChannels && held.role === roles.guest) {
      throw refused('User not authorized for this query');
    }
    await makeSystemBots(transaction);
    const surplus = await insertQueue(transaction.db, { ...wish, queueId, userId }, now);
    for (const gone of surplus) await queueListeners.notify(transaction, gone);
    return { queueId, held };
  });
}

/** One after the other, as they share a connection. */
async function fetchStates(
  context: StateContext,
  actor: KnownUser | undefined,
  { types, ...client }: Asked & AskingClient,
): Promise<JsonObject> {
  const all: JsonObject = {};
  for (const state of initialStates) {
    if (types?.includes(state.eventType) === false) continue;
    if (state.alsoNeeds !== undefined && types?.includes(state.alsoNeeds) === false) continue;
    if (state.withheldWith !== undefined && types?.includes(state.withheldWith)) continue;
    const told =
      actor === undefined
        ? await state.fetchForSpectator?.(context, client)
        : await state.fetch(context, actor, client);
    Object.assign(all, told);
  }
  return all;
}
