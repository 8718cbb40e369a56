import { randomUUID } from 'node:crypto';
import { refused } from '@waxwing/protocol';
import {
  booleanParameter,
  type Encodable,
  EncodedAnswer,
  integerParameter,
  operation,
  optionalJsonParameter,
} from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../context.js';
import { narrowShape } from '../conversations/messages/narrow/narrow-terms.js';
import { checkQueueNarrow } from '../conversations/messages/narrow/queue-filter.js';
import { featureLevel, serverVersion } from '../people/realm/feature-level.js';
import { makeSystemBots } from '../people/users/system-bots.js';
import { userOrSpectator } from '../people/users/user-or-spectator.js';
import { avatarAlias } from '../people/users/user-parameters.js';
import type { Requester } from '../platform/authentication/authenticate.js';
import type { KnownUser } from '../platform/authentication/credential-store.js';
import { roles } from '../platform/authentication/roles.js';
import {
  type ClientCapability,
  clientCapabilitiesShape,
} from '../platform/event-queues/client-capabilities.js';
import { insertQueue, type QueueRequest } from '../platform/event-queues/event-queue-store.js';
import type { AskingClient, StateContext } from '../platform/event-queues/initial-state.js';
import { readWithQueue } from '../platform/event-queues/read-with-queue.js';
import { initialStates } from './initial-states.js';
import { idleQueueTimeout, queueLifetime } from './queue-lifetime.js';

/** Time after which clients may abort a poll. It is well above the server's long-poll timeout. */
const longPollPatienceSeconds = 90;

const eventTypes = z.array(z.string('must be a list of strings').max(100), 'must be a list').max(100);

/** The value `partial` has the same effect as `true`: it returns all subscribers. */
const includeSubscribers = z
  .enum(['true', 'false', 'partial'], 'must be true, false or partial')
  .transform((text) => text !== 'false');

/** All fields of the initial state. A field is present if its event type is fetched. */
const states = initialStates.reduce((all, { shape }) => all.extend(shape.partial().shape), z.object({}));

/**
 * `POST /api/v1/register` (docs/chat-api.md#common-conventions): creates an event queue and returns the initial state.
 * The queue continues after `last_event_id`, where the initial state ends.
 *
 * - `event_types`: the event types that the queue gets, as a JSON array. Default: all types.
 * - `fetch_event_types`: the event types whose initial state is returned. Default: the types of the queue.
 * - `apply_markdown`, `client_external_avatar`: the format of messages.
 * - `narrow`: the queue gets only matching messages.
 * - `all_public_streams`: the queue also gets the messages from all public channels.
 * - `idle_queue_timeout`: the queue expires after this time without a request. At least 600 seconds, at most a week;
 *   `mobile` for twelve hours. `queue_lifespan_secs` is its older name, which does not accept `mobile`.
 *
 * If the organization has public access, unauthenticated clients get a response without a queue and without users'
 * personal data. Errors: UNAUTHORIZED; INVALID_API_KEY; BAD_NARROW; BAD_REQUEST; RATE_LIMIT_HIT if too many
 * registrations are pending.
 */
export const registerEventQueue = operation({
  method: 'POST',
  path: '/api/v1/register',
  summary: 'Creates an event queue and returns the initial state.',
  actor: userOrSpectator,
  // Requests wait in `registerQueue`, a bounded queue.
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
    idle_queue_timeout: idleQueueTimeout.optional(),
  }),
  aliases: avatarAlias,
  answer: z.object({
    /** Null for unauthenticated clients. */
    queue_id: z.string().nullable(),
    last_event_id: z.number().int(),
    zulip_feature_level: z.number().int(),
    zulip_version: z.string(),
    zulip_merge_base: z.string(),
    /** Absent for unauthenticated clients. */
    user_id: z.number().int().optional(),
    event_queue_longpoll_timeout_seconds: z.number().int(),
    /** Lifetime of the queue without a request. Absent for unauthenticated clients. */
    idle_queue_timeout_secs: z.number().int().optional(),
    ...states.shape,
  }),
  codes: ['BAD_REQUEST', 'BAD_NARROW'],
  async handle(context: ServerContext, request) {
    const { actor, parameters, signal } = request;
    // These ticks must not be refused: the event queue already exists when they run.
    const nextTick = () => request.nextTick({ isRefusable: false });
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
      const state = await readForSpectator({ ...context, nextTick }, asked, signal);
      return new EncodedAnswer({ queue_id: null, last_event_id: -1, ...server, ...state });
    }
    const requested = {
      eventTypes: types,
      capabilities,
      appliesMarkdown: parameters.apply_markdown,
      makesAvatars,
      hasAllPublicChannels: parameters.all_public_streams,
      narrow: narrow.length === 0 ? null : JSON.stringify(narrow),
      lifetimeMilliseconds: queueLifetime(parameters),
    };
    const register = async () => {
      // The requester's access may have changed while the request was queued, so check the current rights.
      const { queueId, held } = await makeQueue(context, actor, requested);
      const read = (db: StateContext['database']['db']) =>
        fetchStates({ ...context, nextTick, database: { db } }, held, asked);
      return { queueId, ...(await readWithQueue(context.database, queueId, read)) };
    };
    const { registerQueue } = context;
    const { queueId, result, lastEventId } = await registerQueue.run(
      { client: String(actor.id), signal },
      register,
    );
    return new EncodedAnswer({
      queue_id: queueId,
      last_event_id: lastEventId,
      ...server,
      user_id: actor.id,
      idle_queue_timeout_secs: requested.lifetimeMilliseconds / 1000,
      ...result,
    });
  },
});

/** Reads the initial state for unauthenticated clients. They all count as one client in the fair queue. */
async function readForSpectator(
  context: ServerContext & Pick<StateContext, 'nextTick'>,
  asked: Asked & AskingClient,
  signal: AbortSignal,
): Promise<FetchedStates> {
  const { makesAvatars, includesSubscribers } = asked;
  const wrong = (makesAvatars && 'client_external_avatar') || (includesSubscribers && 'include_subscribers');
  if (wrong) {
    throw refused(`Invalid ${wrong}: must be false in requests without an account`);
  }
  return context.registerQueue.run({ client: 'spectators', signal }, () =>
    context.database.readSnapshot((db) => fetchStates({ ...context, database: { db } }, undefined, asked)),
  );
}

type FetchedStates = Partial<Encodable<z.input<typeof states>>>;

interface Asked {
  /** `undefined` for all types. */
  readonly types: readonly string[] | undefined;
  readonly capabilities: readonly ClientCapability[];
}

async function makeQueue(
  { clock, queueListeners }: ServerContext,
  actor: Requester,
  requested: QueueRequest,
): Promise<{ readonly queueId: string; readonly held: KnownUser }> {
  const queueId = randomUUID();
  const now = clock();
  const { id: userId } = actor;
  return actor.change(async (transaction, held) => {
    if (requested.hasAllPublicChannels && held.role === roles.guest) {
      throw refused('User not authorized for this query');
    }
    await makeSystemBots(transaction);
    const surplus = await insertQueue(transaction.db, { ...requested, queueId, userId }, now);
    for (const gone of surplus) await queueListeners.notify(transaction, gone);
    return { queueId, held };
  });
}

/** Reads the states sequentially, because they share a connection. */
async function fetchStates(
  context: StateContext,
  actor: KnownUser | undefined,
  { types, ...client }: Asked & AskingClient,
): Promise<FetchedStates> {
  const all: FetchedStates = {};
  for (const state of initialStates) {
    if (types?.includes(state.eventType) === false) continue;
    if (state.alsoNeeds !== undefined && types?.includes(state.alsoNeeds) === false) continue;
    if (state.withheldWith !== undefined && types?.includes(state.withheldWith)) continue;
    await context.nextTick();
    const notified =
      actor === undefined
        ? await state.fetchForSpectator?.(context, client)
        : await state.fetch(context, actor, client);
    Object.assign(all, notified);
  }
  return all;
}
