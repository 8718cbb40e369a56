import type { UserId } from '@waxwing/protocol';
import { type JsonObject, parseJson } from '@waxwing/protocol';
import { fixedQuery, tryLockExclusive } from '@waxwing/storage';
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { ServerTables } from '../../tables.js';
import type { ClientCapability } from './client-capabilities.js';

type Reader = Kysely<ServerTables>;
type Writer = Transaction<ServerTables>;
export type EventQueueRow = Selectable<ServerTables['event_queues']>;

/** An event as sent to clients. */
export type EventOnWire = JsonObject & { readonly id: number; readonly type: string };

/** The default lifetime of a queue without requests. Clients may request a longer lifetime, up to the maximum below. */
export const queueLifetimeMilliseconds = 10 * 60_000;
export const maximumQueueLifetimeMilliseconds = 7 * 24 * 60 * 60_000;
/** Minimum interval between two polls that update `last_used_at`, to save writes. */
export const noteUseAfterMilliseconds = 60_000;
/**
 * Maximum unacknowledged events of a queue. A queue above this maximum is deleted, and its client must register again.
 */
export const maximumEventsPerQueue = 1000;
// At this limit, a new queue evicts the user's least recently used queue.
const maximumQueuesPerUser = 50;

/** Returns a user's live queue, or `undefined` if the queue does not exist, is expired or belongs to another user. */
export async function findQueue(
  db: Reader,
  userId: UserId,
  queueId: string,
  now: number,
): Promise<EventQueueRow | undefined> {
  const [row] = await liveQueue(db, { queueId, userId, now });
  return row;
}

interface LiveQueue {
  readonly queueId: string;
  readonly userId: UserId;
  readonly now: number;
}

const liveQueue = fixedQuery<ServerTables, LiveQueue, EventQueueRow>((db, parameter) =>
  db
    .selectFrom('event_queues')
    .selectAll()
    .where('queue_id', '=', parameter('queueId'))
    .where('user_id', '=', parameter('userId'))
    .where(isLive(parameter('now'))),
);

/** Returns an SQL condition on rows of `event_queues` that is true if the queue has not expired. */
export function isLive(now: number): RawBuilder<boolean> {
  return sql<boolean>`last_used_at + lifetime_milliseconds > ${now}`;
}

/** The options that a client requested for its queue. */
export interface QueueRequest {
  /** `undefined` means all types. */
  readonly eventTypes: readonly string[] | undefined;
  readonly capabilities: readonly ClientCapability[];
  readonly appliesMarkdown: boolean;
  readonly makesAvatars: boolean;
  readonly hasAllPublicChannels: boolean;
  /** The narrow's terms as a JSON array. Null for all messages. */
  readonly narrow: string | null;
  /** The queue expires after this time without a request. */
  readonly lifetimeMilliseconds: number;
}

/** Inserts a queue, and evicts the user's expired and surplus queues. Returns the ids of the evicted queues. */
export async function insertQueue(
  db: Writer,
  queue: QueueRequest & { readonly queueId: string; readonly userId: UserId },
  now: number,
): Promise<string[]> {
  const older = await db
    .selectFrom('event_queues')
    .select(['queue_id', isLive(now).as('is_live')])
    .where('user_id', '=', queue.userId)
    .orderBy('last_used_at', 'desc')
    .execute();
  const surplus = older
    .filter((row, index) => index >= maximumQueuesPerUser - 1 || !row.is_live)
    .map((row) => row.queue_id)
    // Publishing also locks queues in this order. A different order could deadlock.
    .sort();
  const gone = surplus.length > 0 && (await evictsSingly(db, queue.userId)) ? surplus : [];
  for (const queueId of gone) await deleteQueue(db, queue.userId, queueId);
  await db
    .insertInto('event_queues')
    .values({
      queue_id: queue.queueId,
      user_id: queue.userId,
      event_types: queue.eventTypes === undefined ? null : JSON.stringify(queue.eventTypes),
      client_capabilities: queue.capabilities.length === 0 ? null : JSON.stringify(queue.capabilities),
      applies_markdown: queue.appliesMarkdown ? 1 : 0,
      makes_avatars: queue.makesAvatars ? 1 : 0,
      has_all_public_channels: queue.hasAllPublicChannels ? 1 : 0,
      narrow: queue.narrow,
      lifetime_milliseconds: queue.lifetimeMilliseconds,
      last_event_id: -1,
      acknowledged_event_id: -1,
      last_used_at: now,
      newest_at_start: null,
    })
    .execute();
  return gone;
}

/**
 * Tries to take the lock for evicting the user's queues, and returns whether it succeeded. If another request holds
 * the lock, evicts nothing, and the user has one queue too many until the next registration.
 */
async function evictsSingly(db: Writer, userId: UserId): Promise<boolean> {
  const { alone } = await db
    .selectNoFrom(tryLockExclusive(db, `event queues of user ${userId}`).as('alone'))
    .executeTakeFirstOrThrow();
  return Boolean(alone);
}

/** Deletes a user's queue and its events. Returns whether it existed. */
export async function deleteQueue(db: Writer, userId: UserId, queueId: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('event_queues')
    .where('queue_id', '=', queueId)
    .where('user_id', '=', userId)
    .returning('queue_id')
    .executeTakeFirst();
  return deleted !== undefined;
}

/** Deletes up to `limit` expired queues. Returns their number. */
export async function deleteIdleQueues(db: Writer, now: number, limit: number): Promise<number> {
  const idle = db
    .selectFrom('event_queues')
    .select('queue_id')
    .where(({ not }) => not(isLive(now)))
    .limit(limit);
  const deleted = await db
    .deleteFrom('event_queues')
    .where('queue_id', 'in', idle)
    // Checks again, because the client may poll between the two statements.
    .where(({ not }) => not(isLive(now)))
    .returning('queue_id')
    .execute();
  return deleted.length;
}

/** Deletes up to `limit` event texts that no queue refers to. Returns their number. */
export async function deleteUnusedTexts(db: Writer, limit: number): Promise<number> {
  const unused = db
    .selectFrom('event_texts')
    .select('id')
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('queued_events')
            .select('text_id')
            .whereRef('queued_events.text_id', '=', 'event_texts.id'),
        ),
      ),
    )
    .limit(limit);
  const deleted = await db.deleteFrom('event_texts').where('id', 'in', unused).returning('id').execute();
  return deleted.length;
}

/** Records that a client polled and acknowledged the events up to `eventId`, and deletes these events. */
export async function acknowledgeEvents(
  db: Writer,
  queueId: string,
  eventId: number,
  now: number,
): Promise<void> {
  await noteAcknowledged(db, { queueId, eventId, now });
  await forgetAcknowledged(db, { queueId, eventId });
}

interface Acknowledged {
  readonly queueId: string;
  readonly eventId: number;
}

const noteAcknowledged = fixedQuery<ServerTables, Acknowledged & { readonly now: number }, object>(
  (db, parameter) =>
    db
      .updateTable('event_queues')
      .set({
        acknowledged_event_id: parameter('eventId'),
        last_used_at: parameter('now'),
        newest_at_start: null,
      })
      .where('queue_id', '=', parameter('queueId'))
      .where('acknowledged_event_id', '<=', parameter('eventId')),
);

const forgetAcknowledged = fixedQuery<ServerTables, Acknowledged, object>((db, parameter) =>
  db
    .deleteFrom('queued_events')
    .where('queue_id', '=', parameter('queueId'))
    .where('event_id', '<=', parameter('eventId')),
);

/** Maximum events per response. The client polls again for the rest. */
const maximumEventsAtOnce = 500;
/** Maximum characters of events per response. */
const enoughCharacters = 1024 * 1024;
/**
 * Number of events read per query. Kept small, because events beyond a response's limits are read and then discarded.
 */
const eventsPerReading = 25;

/** A batch of a queue's events. */
export interface QueuedEvents {
  readonly events: EventOnWire[];
  /** Whether a server has started since the client's last poll. If so, call {@link noteAnswered} before responding. */
  readonly isSinceStart: boolean;
}

/**
 * Returns the events after `eventId`, oldest first, each with its `id`. Returns as many as fit into one response, but at
 * least one if there are any.
 */
export async function eventsAfter(db: Reader, queueId: string, eventId: number): Promise<QueuedEvents> {
  const events: EventOnWire[] = [];
  let characters = 0;
  let isSinceStart = false;
  for (;;) {
    const rows = await readEvents(db, { queueId, after: events.at(-1)?.id ?? eventId });
    for (const { event_id: id, event, newest_at_start } of rows) {
      isSinceStart ||= newest_at_start !== null;
      characters += event.length;
      if (events.length > 0 && characters > enoughCharacters) return { events, isSinceStart };
      events.push({ id, ...(parseJson(event) as JsonObject & { type: string }) });
    }
    if (rows.length < eventsPerReading || events.length >= maximumEventsAtOnce) {
      return { events, isSinceStart };
    }
  }
}

interface EventsOfQueue {
  readonly queueId: string;
  readonly after: number;
}

interface ReadEvent {
  readonly event_id: number;
  readonly event: string;
  readonly newest_at_start: number | null;
}

const readEvents = fixedQuery<ServerTables, EventsOfQueue, ReadEvent>((db, parameter) =>
  db
    .selectFrom('queued_events')
    .innerJoin('event_texts', 'event_texts.id', 'queued_events.text_id')
    .innerJoin('event_queues', 'event_queues.queue_id', 'queued_events.queue_id')
    .select(['event_id', 'event', 'newest_at_start'])
    .where('queued_events.queue_id', '=', parameter('queueId'))
    .where('event_id', '>', parameter('after'))
    .orderBy('event_id')
    .limit(eventsPerReading),
);

/** Clears the record of a server start. Call this before the client gets events that were published after the start. */
export async function noteAnswered(db: Writer, queueId: string): Promise<void> {
  await db
    .updateTable('event_queues')
    .set({ newest_at_start: null })
    .where('queue_id', '=', queueId)
    .execute();
}

/**
 * Allocates the next event id of a queue, for an event that is sent to its client without being stored. Returns
 * `undefined` if the queue no longer exists.
 */
export async function takeEventId(db: Writer, queueId: string): Promise<number | undefined> {
  const row = await db
    .updateTable('event_queues')
    .set((is) => ({ last_event_id: is('last_event_id', '+', 1), newest_at_start: null }))
    .where('queue_id', '=', queueId)
    .returning('last_event_id')
    .executeTakeFirst();
  return row?.last_event_id;
}
