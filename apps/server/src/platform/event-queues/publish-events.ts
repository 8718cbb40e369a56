import { type JsonObject, stringifyJson, type UserId } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import { isPostgres, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { hasCapability } from './client-capabilities.js';
import { type EventQueueRow, maximumEventsPerQueue } from './event-queue-store.js';
import { insertEvents, type SharedTexts } from './insert-events.js';
import { type LockedQueue, lockQueues } from './lock-queues.js';
import type {
  AskingQueue,
  EventsForOwners,
  EventsToPublish,
  PublishedEvent,
  ServerPublish,
} from './published-event.js';
import type { QueueListeners } from './queue-listeners.js';
import { type QueueOwner, readQueueOwners } from './queue-owners.js';
import { beginPublishing } from './read-with-queue.js';

type Db = Kysely<ServerTables>;

/** The events of one call to the publisher, and how to build them for additional users. */
interface Batch {
  readonly events: PublishedEvent[];
  readonly source?: EventsForOwners;
  /** The users that `source` has already built events for. */
  readonly asked: ReadonlySet<UserId>;
}

/** An event prepared for filtering by queue: work that all queues share is done once. */
interface OutgoingEvent {
  readonly type: unknown;
  /** Returns the event's texts for a queue. Empty if the queue does not get the event. */
  textsFor(queue: AskingQueue): readonly string[];
  readonly audience: ReadonlySet<UserId> | 'everyone';
  readonly publicBut: PublishedEvent['publicBut'];
  readonly onlyFor: PublishedEvent['onlyFor'];
  readonly withheldWith: PublishedEvent['withheldWith'];
}

/**
 * Creates the publisher, which writes events to the queues of their audiences and wakes waiting polls. It writes
 * before the commit, in one batch per transaction. The number of statements does not grow with the number of events,
 * users or queues. It locks the queues last and in a fixed order, so that two transactions cannot deadlock.
 */
export function createPublisher(listeners: Pick<QueueListeners, 'notify'>, clock: Clock): ServerPublish {
  const published = new WeakMap<ServerTransaction, Batch[]>();
  return async (transaction, events) => {
    const batch = await toBatch(transaction.db, events, clock());
    const known = published.get(transaction);
    if (known !== undefined) {
      known.push(batch);
      return;
    }
    const all = [batch];
    published.set(transaction, all);
    transaction.beforeCommit(async () => {
      await beginPublishing(transaction);
      if (isPostgres(transaction.db)) await addLateOwners(transaction, all, clock());
      const queueIds = await fillQueues(
        transaction.db,
        all.flatMap((each) => each.events),
        clock(),
      );
      for (const queueId of queueIds) await listeners.notify(transaction, queueId);
    });
  };
}

async function toBatch(db: Db, events: EventsToPublish, now: number): Promise<Batch> {
  if (!('build' in events)) return { events: [...events], asked: new Set() };
  if (events.types.length === 0) return { events: [], asked: new Set() };
  const owners = await readQueueOwners(db, events, now);
  return {
    events: await build(events, owners),
    source: events,
    asked: new Set(owners.map(({ id }) => id)),
  };
}

async function build(source: EventsForOwners, owners: readonly QueueOwner[]): Promise<PublishedEvent[]> {
  if (owners.length === 0) return [];
  const ids = new Set(owners.map(({ id }) => id));
  return (await source.build(owners)).flatMap((each) => {
    if (!source.types.includes(String(each.event.type))) {
      throw new Error(
        `an event of type ${String(each.event.type)} is not among the types it was announced with`,
      );
    }
    if (each.audience === 'everyone') return each;
    const audience = each.audience.filter((id) => ids.has(id));
    // Drops events that no queue gets: an audience can have thousands of users, and few of them have a queue.
    return audience.length === 0 && each.publicBut === undefined ? [] : { ...each, audience };
  });
}

/**
 * Builds the events again for users whose first queue was registered after the events were built. The registration
 * may have read the state from before this transaction, because the publishing lock is taken only now. On SQLite, no
 * queue can be registered in between.
 */
async function addLateOwners(
  transaction: ServerTransaction,
  batches: readonly Batch[],
  now: number,
): Promise<void> {
  for (const { events, source, asked } of batches) {
    if (source === undefined) continue;
    const owners = await readQueueOwners(transaction.db, source, now);
    const late = owners.filter(({ id }) => !asked.has(id));
    if (late.length === 0) continue;
    // Later writes in the batch may have changed the events' data. This error makes each write in the batch run again
    // on its own.
    if (transaction.isShared) throw new Error('an event queue was registered during a batched transaction');
    events.push(...(await build(source, late)));
  }
}

/**
 * Adds events to queues. Deletes overfull queues, and the queues of users whose access has ended. Returns the ids of
 * the changed queues.
 */
async function fillQueues(db: Db, events: readonly PublishedEvent[], now: number): Promise<string[]> {
  const userIds = audienceOf(events);
  const hasPublic = events.some(({ publicBut }) => publicBut !== undefined);
  if (userIds !== 'everyone' && userIds.size === 0 && !hasPublic) return [];
  const outgoing = events.filter(({ endsQueues }) => endsQueues !== true).map(toOutgoing);
  const leaving = new Set(
    events.flatMap(({ endsQueues, audience }) => (endsQueues && audience !== 'everyone' ? audience : [])),
  );
  const places = new Map<string, number>();
  const typesOf = readingOnce((listed) => new Set(JSON.parse(listed) as unknown[]));
  const shared = new Map<string, SharedTexts>();
  const ended: string[] = [];
  const types = events.map(({ event }) => String(event.type));
  for (const queue of await lockQueues(db, { userIds, types, leaving, hasPublic, now })) {
    const texts = wantedOf(outgoing, queue, typesOf);
    const isOverfull =
      queue.last_event_id + texts.length - queue.acknowledged_event_id > maximumEventsPerQueue;
    if (isOverfull || leaving.has(queue.user_id)) ended.push(queue.queue_id);
    else if (texts.length > 0) {
      const key = texts.map((text) => placeOf(text, places)).join();
      const alike = shared.get(key);
      if (alike === undefined) shared.set(key, { texts, queueIds: [queue.queue_id] });
      else alike.queueIds.push(queue.queue_id);
    }
  }
  const filled = [...shared.values()];
  if (filled.length > 0) await insertEvents(db, filled);
  if (ended.length > 0) await endQueues(db, ended);
  return [...filled.flatMap(({ queueIds }) => queueIds), ...ended];
}

/** Returns the union of the events' audiences. */
function audienceOf(events: readonly PublishedEvent[]): ReadonlySet<UserId> | 'everyone' {
  const userIds = new Set<UserId>();
  for (const { audience } of events) {
    if (audience === 'everyone') return 'everyone';
    for (const id of audience) userIds.add(id);
  }
  return userIds;
}

/** Memoizes `read` by text, because thousands of queues have the same text. */
function readingOnce<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}

/** Returns the number of a text. Assigns the next number to a new text. */
function placeOf(text: string, places: Map<string, number>): number {
  const place = places.get(text) ?? places.size;
  places.set(text, place);
  return place;
}

function toOutgoing(published: PublishedEvent): OutgoingEvent {
  const { audience, event, onlyFor, publicBut, variantFor, withheldWith } = published;
  return {
    type: event.type,
    textsFor: variantFor === undefined ? sameText(event) : textsByVariant(variantFor),
    audience: audience === 'everyone' ? audience : new Set(audience),
    publicBut,
    onlyFor,
    withheldWith,
  };
}

function sameText(event: JsonObject): OutgoingEvent['textsFor'] {
  const texts = [stringifyJson(event)];
  return () => texts;
}

function textsByVariant(variantFor: NonNullable<PublishedEvent['variantFor']>): OutgoingEvent['textsFor'] {
  const written = new Map<string, readonly string[]>();
  return (queue) => {
    const variant = variantFor(queue);
    if (variant === undefined) return [];
    const texts = written.get(variant.key) ?? [variant.write()].flat().map(stringifyJson);
    written.set(variant.key, texts);
    return texts;
  };
}

function toAsking(queue: EventQueueRow): AskingQueue {
  return {
    queueId: queue.queue_id,
    userId: queue.user_id,
    appliesMarkdown: queue.applies_markdown === 1,
    makesAvatars: queue.makes_avatars === 1,
    narrow: queue.narrow,
    can: (capability) => hasCapability(queue.client_capabilities, capability),
  };
}

/** Returns the texts of the events that a queue gets, in order. */
function wantedOf(
  events: readonly OutgoingEvent[],
  queue: LockedQueue,
  typesOf: (listed: string) => ReadonlySet<unknown>,
): string[] {
  const { event_types: listed, client_capabilities: capabilities } = queue;
  const types = listed === null ? undefined : typesOf(listed);
  const asking = toAsking(queue);
  return events.flatMap((event) => {
    const { audience, publicBut, onlyFor, type, withheldWith } = event;
    const isMeant =
      (audience === 'everyone' ? queue.is_owner_active === 1 : audience.has(queue.user_id)) ||
      (queue.follows_public === 1 && publicBut?.has(queue.user_id) === false);
    if (!isMeant || types?.has(type) === false) return [];
    if (withheldWith !== undefined && types?.has(withheldWith) !== false) return [];
    if (onlyFor !== undefined && hasCapability(capabilities, onlyFor.capability) !== onlyFor.isLocked)
      return [];
    return event.textsFor(asking);
  });
}

/** Deletes queues that are overfull or whose user's access has ended. Their clients must register again. */
async function endQueues(db: Db, queueIds: readonly string[]): Promise<void> {
  const rows = queueIds.map((queueId) => ({ queue_id: queueId }));
  await sql`
    delete from event_queues where queue_id in (
      select v.queue_id from ${rowsAsTable(db, 'v', { queue_id: 'text' }, rows)}
    )`.execute(db);
}
