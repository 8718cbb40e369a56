import { refused, type UserId } from '@waxwing/protocol';
import { booleanParameter, integerParameter, type OperationRequest, operation } from '@waxwing/service/http';
import { z } from 'zod';
import type { ServerContext } from '../../context.js';
import { user } from '../authentication/authenticate.js';
import { badEventQueue } from './bad-event-queue.js';
import {
  acknowledgeEvents,
  type EventOnWire,
  type EventQueueRow,
  eventsAfter,
  findQueue,
  noteAnswered,
  noteUseAfterMilliseconds,
  takeEventId,
} from './event-queue-store.js';
import type { QueueListener } from './queue-listeners.js';

interface Poll {
  readonly userId: UserId;
  readonly queueId: string;
  readonly lastEventId: number;
}

/**
 * `GET /api/v1/events` (docs/chat-api.md#common-conventions): returns the events after `last_event_id`, and
 * acknowledges the events up to it. If there are many events, returns the first batch. If there are no events, waits
 * for one unless `dont_block` is set, and responds with a heartbeat on timeout. Errors: UNAUTHORIZED;
 * INVALID_API_KEY; REQUEST_VARIABLE_MISSING; BAD_REQUEST; BAD_EVENT_QUEUE_ID for an unknown queue, and for a client
 * with events that were lost when the database was restored.
 */
export const getEvents = operation({
  method: 'GET',
  path: '/api/v1/events',
  summary: "Returns a queue's events after `last_event_id`; long-polls if there are none.",
  actor: user,
  parameters: z.object({
    queue_id: z.string(),
    last_event_id: integerParameter,
    dont_block: booleanParameter.default(false),
  }),
  answer: z.object({
    queue_id: z.string(),
    events: z.array(z.looseObject({ id: z.number().int(), type: z.string() })),
  }),
  codes: ['BAD_EVENT_QUEUE_ID'],
  // A newer poll of a queue replaces the older poll, which then completes immediately.
  lane: (head) =>
    head.queryParameter('dont_block') === 'true' ? undefined : head.queryParameter('queue_id'),
  async handle(context: ServerContext, request) {
    const { queueListeners, database, longPollTimeoutSeconds } = context;
    const { queue_id: queueId, last_event_id: lastEventId, dont_block } = request.parameters;
    const poll = { userId: request.actor.id, queueId, lastEventId };
    if (dont_block) {
      return request.runPiece(async () => {
        await acknowledge(context, poll);
        return { queue_id: queueId, events: await takeEvents(database, poll) };
      });
    }
    // Listen before reading the queue. Otherwise, an event published in between would be missed.
    const listener = queueListeners.listen(queueId);
    try {
      const queue = await request.runPiece(() => acknowledge(context, poll, () => listener.replaceOlder()));
      const milliseconds = longPollTimeoutSeconds * 1000;
      const events = await nextEvents(context, { poll, queue, listener, milliseconds, request });
      return { queue_id: queueId, events };
    } finally {
      listener.close();
    }
  },
});

/**
 * Records the poll and returns the previous state of the queue. Calls `onFound` after verifying that the queue
 * belongs to the user.
 */
async function acknowledge(
  { clock, database }: ServerContext,
  poll: Poll,
  onFound?: () => void,
): Promise<EventQueueRow> {
  const { queueId, lastEventId } = poll;
  const now = clock();
  const queue = await requireQueue(database.db, poll, now);
  const { newest_at_start: newestAtStart } = queue;
  // The client has events that a restored database has lost and whose ids it will reuse.
  if (newestAtStart !== null && lastEventId > newestAtStart) throw badEventQueue(queueId);
  if (lastEventId > queue.last_event_id) {
    throw refused(`Invalid last_event_id: the newest event of this queue is ${queue.last_event_id}`);
  }
  if (lastEventId < queue.acknowledged_event_id) {
    throw refused(
      `Invalid last_event_id: events up to ${queue.acknowledged_event_id} were acknowledged and deleted`,
    );
  }
  onFound?.();
  const isNews = lastEventId > queue.acknowledged_event_id;
  if (isNews || newestAtStart !== null || now - queue.last_used_at >= noteUseAfterMilliseconds) {
    await database.write(({ db }) => acknowledgeEvents(db, queueId, lastEventId, now));
  }
  return queue;
}

interface PollContext {
  readonly poll: Poll;
  /** The queue, read after the listener was registered. */
  readonly queue: EventQueueRow;
  readonly listener: QueueListener;
  readonly milliseconds: number;
  readonly request: Pick<OperationRequest<unknown, unknown>, 'runPiece' | 'signal'>;
}

async function nextEvents(context: ServerContext, waiting: PollContext): Promise<EventOnWire[]> {
  const { clock, database } = context;
  const { poll, listener, milliseconds, request } = waiting;
  const take = () => request.runPiece(() => takeEvents(database, poll));
  let { queue } = waiting;
  for (;;) {
    const known = queue.last_event_id > poll.lastEventId ? await take() : [];
    if (known.length > 0) return known;
    const end = await listener.wait(milliseconds, request.signal);
    if (end === 'gone') return [];
    if (end === 'timed-out') return request.runPiece(() => lastLook(context, poll));
    const news = await take();
    if (news.length > 0) return news;
    // The queue may have been deleted, or have expired during the wait.
    queue = await requireQueue(database.db, poll, clock());
  }
}

/** Reads the events for the response. */
async function takeEvents(
  database: ServerContext['database'],
  { queueId, lastEventId }: Poll,
): Promise<EventOnWire[]> {
  const { events, isSinceStart } = await eventsAfter(database.db, queueId, lastEventId);
  // Another server process started during the wait and recorded the queue's newest event id. Clear that record.
  if (isSinceStart) await database.write(({ db }) => noteAnswered(db, queueId));
  return events;
}

/**
 * Builds the response on timeout: events whose notification was missed, or a heartbeat. A client that acknowledges a
 * heartbeat acknowledges all events before it. Publishing locks the queue's row until the commit, so a read that
 * follows the allocation of an id sees all events before that id.
 */
function lastLook({ database }: ServerContext, { queueId, lastEventId }: Poll): Promise<EventOnWire[]> {
  return database.write(async ({ db }) => {
    const id = await takeEventId(db, queueId);
    if (id === undefined) throw badEventQueue(queueId);
    const { events } = await eventsAfter(db, queueId, lastEventId);
    // A heartbeat after a partial batch would acknowledge the events that were not sent.
    return events.length > 0 ? events : [{ id, type: 'heartbeat' }];
  });
}

async function requireQueue(
  db: ServerContext['database']['db'],
  { userId, queueId }: Poll,
  now: number,
): Promise<EventQueueRow> {
  const queue = await findQueue(db, userId, queueId, now);
  if (queue === undefined) throw badEventQueue(queueId);
  return queue;
}
