import type { UserId } from '@waxwing/protocol';
import { type JsonObject, parseJson } from '@waxwing/protocol';
import { fixedQuery, nobodyElseHolds } from '@waxwing/storage';
import { type Kysely, type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import type { ServerTables } from '../tables.js';
import type { ClientCapability } from './client-capabilities.js';

type Reader = Kysely<ServerTables>;
type Writer = Transaction<ServerTables>;
export type EventQueueRow = Selectable<ServerTables['event_queues']>;

/** An event as clients get it. */
export type EventOnWire = JsonObject & { readonly id: number; readonly type: string };

/** A queue that nobody asked for so long is gone, where its client has asked for no longer. */
export const queueLifetimeMilliseconds = 10 * 60_000;
export const maximumQueueLifetimeMilliseconds = 7 * 24 * 60 * 60_000;
/** Asking again is noted down no more often than this. */
export const noteUseAfterMilliseconds = 60_000;
/** A queue with more unacknowledged events is given up: its client has to start again anyway. */
export const maximumEventsPerQueue = 1000;
// With one more, the one that was used longest ago is given up.
const maximumQueuesPerUser = 50;

/** A user's live queue; `undefined` for any other. */
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

/** Whether a queue was used a short enough time ago. */
export function isLive(now: number): RawBuilder<boolean> {
  return sql<boolean>`last_used_at + lifetime_milliseconds > ${now}`;
}

/** What a client asks of its queue. */
export interface QueueWish {
  /** All types where nothing is said. */
  readonly eventTypes: readonly string[] | undefined;
  readonly capabilities: readonly ClientCapability[];
  readonly appliesMarkdown: boolean;
  readonly makesAvatars: boolean;
  readonly hasAllPublicChannels: boolean;
  /** JSON array of the terms that messages must meet; null for all messages. */
  readonly narrow: string | null;
  /** After so long without a request it is gone. */
  readonly lifetimeMilliseconds: number;
}

/** Adds a queue, making room where a user has too many; the ids of those that were given up for it. */
export async function insertQueue(
  db: Writer,
  queue: QueueWish & { readonly queueId: string; readonly userId: UserId },
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
    // In the order in which publishing takes them, so that the two never wait for each other.
    .sort();
  const gone = surplus.length > 0 && (await makesRoomAlone(db, queue.userId)) ? surplus : [];
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

/** Where another request of the user makes room at this moment none is made: there is one queue more until the next. */
async function makesRoomAlone(db: Writer, userId: UserId): Promise<boolean> {
  const { alone } = await db
    .selectNoFrom(nobodyElseHolds(db, `event queues of user ${userId}`).as('alone'))
    .executeTakeFirstOrThrow();
  return Boolean(alone);
}

/** Whether there was such a queue of this user. Its events go with it. */
export async function deleteQueue(db: Writer, userId: UserId, queueId: string): Promise<boolean> {
  const deleted = await db
    .deleteFrom('event_queues')
    .where('queue_id', '=', queueId)
    .where('user_id', '=', userId)
    .returning('queue_id')
    .executeTakeFirst();
  return deleted !== undefined;
}

/** Deletes queues that nobody used for too long, some at a time; how many they were. */
export async function deleteIdleQueues(db: Writer, now: number, limit: number): Promise<number> {
  const idle = db
    .selectFrom('event_queues')
    .select('queue_id')
    .where(({ not }) => not(isLive(now)))
    .limit(limit);
  const deleted = await db
    .deleteFrom('event_queues')
    .where('queue_id', 'in', idle)
    // Said again because its client may come back between the two.
    .where(({ not }) => not(isLive(now)))
    .returning('queue_id')
    .execute();
  return deleted.length;
}

/** Deletes texts that no queue holds any more, some at a time; how many they were. */
export async function deleteUnheldTexts(db: Writer, limit: number): Promise<number> {
  const unheld = db
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
  const deleted = await db.deleteFrom('event_texts').where('id', 'in', unheld).returning('id').execute();
  return deleted.length;
}

/** Notes that the client asked, and has everything up to `eventId`; forgets those events. */
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

/** One answer has no more: its client asks again after the last. */
const maximumEventsAtOnce = 500;
/** Nor does it go on beyond so much text. */
const enoughCharacters = 1024 * 1024;
/** So many are read at a time, so that hardly more is read than is answered. */
const eventsPerReading = 25;

/** Events that a queue holds. */
export interface QueuedEvents {
  readonly events: EventOnWire[];
  /** Whether a server started since the client last asked: call {@link noteAnswered} before it gets them. */
  readonly isSinceStart: boolean;
}

/**
 * The events after `eventId`, oldest first, each with its `id`: as many as one answer has, and one at least where there
 * is one.
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

/** Notes that the client gets events that came after a server's start. */
export async function noteAnswered(db: Writer, queueId: string): Promise<void> {
  await db
    .updateTable('event_queues')
    .set({ newest_at_start: null })
    .where('queue_id', '=', queueId)
    .execute();
}

/** The next event id of a queue, which its client gets; `undefined` when the queue is gone. */
export async function takeEventId(db: Writer, queueId: string): Promise<number | undefined> {
  const row = await db
    .updateTable('event_queues')
    .set((is) => ({ last_event_id: is('last_event_id', '+', 1), newest_at_start: null }))
    .where('queue_id', '=', queueId)
    .returning('last_event_id')
    .executeTakeFirst();
  return row?.last_event_id;
}
