import { type JsonObject, stringifyJson, type UserId } from '@waxwing/protocol';
import type { AddressedEvent } from '@waxwing/server-push';
import type { Clock } from '@waxwing/service/lifecycle';
import { amongNumbersOf, fixedQuery, lockingRows, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { roles } from '../authentication/roles.js';
import { type ClientCapability, hasCapability } from './client-capabilities.js';
import { type EventQueueRow, isLive, maximumEventsPerQueue } from './event-queue-store.js';
import { insertEvents, type SharedTexts } from './insert-events.js';
import type { QueueListeners } from './queue-listeners.js';
import { beginPublishing } from './read-with-queue.js';

type Db = Kysely<ServerTables>;
/** A queue, and whether it gets the messages from all public channels. 0 if its user became a guest. */
type LockedQueue = EventQueueRow & { readonly follows_public: number };

/** An event and its audience. */
export interface PublishedEvent extends AddressedEvent {
  /** Restricts the event to queues whose client has the capability, or to queues without it. */
  readonly onlyFor?: { readonly capability: ClientCapability; readonly isLocked: boolean };
  /** Skips queues that get events of this type, because these have the same information. */
  readonly withheldWith?: string;
  /** Also publishes to queues with the messages from all public channels, except those of these users. */
  readonly publicBut?: ReadonlySet<UserId>;
  /** Deletes the queues of the audience instead of publishing. */
  readonly endsQueues?: boolean;
  /** Chooses the event's form per queue by its client's options. `event` then only supplies the type. */
  readonly variantFor?: (queue: AskingQueue) => EventVariant | undefined;
}

/** The options of a queue that decide an event's form. */
export interface AskingQueue {
  readonly queueId: string;
  readonly userId: UserId;
  readonly appliesMarkdown: boolean;
  readonly makesAvatars: boolean;
  /** The narrow's terms as a JSON array. Null for all messages. */
  readonly narrow: string | null;
  can(capability: ClientCapability): boolean;
}

/** One form of an event, which may be several events. Written once for all queues with the same key. */
interface EventVariant {
  readonly key: string;
  write(): JsonObject | readonly JsonObject[];
}

/** Publishes events to their audiences, within the transaction of the change. */
export type ServerPublish = (
  transaction: ServerTransaction,
  events: readonly PublishedEvent[],
) => Promise<void>;

/** An event prepared for filtering by queue. Work common to all queues is done once. */
interface OutgoingEvent {
  readonly type: unknown;
  /** Empty if the queue does not get the event. */
  textsFor(queue: AskingQueue): readonly string[];
  readonly audience: ReadonlySet<UserId>;
  readonly publicBut: PublishedEvent['publicBut'];
  readonly onlyFor: PublishedEvent['onlyFor'];
  readonly withheldWith: PublishedEvent['withheldWith'];
}

/**
 * Creates the publisher, which writes events to the queues of their audiences and wakes waiting polls. It runs before
 * commit, in one batch per transaction: the number of statements does not grow with events, users or queues. It locks the
 * queues last and in one order, so that two transactions cannot deadlock.
 */
export function createPublisher(listeners: Pick<QueueListeners, 'notify'>, clock: Clock): ServerPublish {
  const published = new WeakMap<ServerTransaction, PublishedEvent[]>();
  return async (transaction, events) => {
    const known = published.get(transaction);
    if (known !== undefined) {
      known.push(...events);
      return;
    }
    const all = [...events];
    published.set(transaction, all);
    transaction.beforeCommit(async () => {
      await beginPublishing(transaction);
      for (const queueId of await fillQueues(transaction.db, all, clock()))
        await listeners.notify(transaction, queueId);
    });
  };
}

/** Fills or ends queues. Returns the ids of the changed ones. */
async function fillQueues(db: Db, events: readonly PublishedEvent[], now: number): Promise<string[]> {
  const audience = [...new Set(events.flatMap(({ audience: userIds }) => userIds))];
  const hasPublic = events.some(({ publicBut }) => publicBut !== undefined);
  if (audience.length === 0 && !hasPublic) return [];
  const outgoing = events.filter(({ endsQueues }) => endsQueues !== true).map(toOutgoing);
  const leaving = new Set(events.flatMap(({ endsQueues, audience: ids }) => (endsQueues ? ids : [])));
  const places = new Map<string, number>();
  const typesOf = readingOnce((listed) => new Set(JSON.parse(listed) as unknown[]));
  const shared = new Map<string, SharedTexts>();
  const ended: string[] = [];
  for (const queue of await lockQueues(db, audience, { leaving, hasPublic, now })) {
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

/** Memoizes `read`: thousands of queues have the same text. */
function readingOnce<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}

/** A number that identifies the text. */
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
    audience: new Set(audience),
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

interface QueuesAsked {
  /** For these users, expired queues are included. */
  readonly leaving: ReadonlySet<UserId>;
  readonly hasPublic: boolean;
  readonly now: number;
}

function lockQueues(
  db: Db,
  userIds: readonly UserId[],
  { leaving, hasPublic, now }: QueuesAsked,
): Promise<LockedQueue[]> {
  const asked = { userIds: JSON.stringify(userIds), leaving: JSON.stringify([...leaving]), now };
  return hasPublic ? queuesOfPublic(db, asked) : queuesOfUsers(db, asked);
}

/** Users are JSON arrays of ids. */
interface QueuesOfUsers {
  readonly userIds: string;
  readonly leaving: string;
  readonly now: number;
}

const queuesOfUsers = lockingQueues(false);
const queuesOfPublic = lockingQueues(true);

function lockingQueues(hasPublic: boolean) {
  return fixedQuery<ServerTables, QueuesOfUsers, LockedQueue>((db, parameter) =>
    db
      .selectFrom('event_queues')
      .selectAll()
      .select(followsPublic.as('follows_public'))
      .where((is) =>
        is.or([
          is('user_id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('userIds'))),
          ...(hasPublic ? [is('has_all_public_channels', '=', sql<number>`1`)] : []),
        ]),
      )
      .where((is) =>
        is.or([
          isLive(parameter('now')),
          is('user_id', 'in', amongNumbersOf<ServerTables, UserId>(db, parameter('leaving'))),
        ]),
      )
      .orderBy('queue_id')
      .modifyEnd(lockingRows(db)),
  );
}

const followsPublic = sql<number>`case when has_all_public_channels = 1 and exists (
  select 1 from users
  where users.id = event_queues.user_id and users.is_active = 1 and users.role <> ${roles.guest}
) then 1 else 0 end`;

/** The texts of the events that a queue gets, in order. */
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
      audience.has(queue.user_id) || (queue.follows_public === 1 && publicBut?.has(queue.user_id) === false);
    if (!isMeant || types?.has(type) === false) return [];
    if (withheldWith !== undefined && types?.has(withheldWith) !== false) return [];
    if (onlyFor !== undefined && hasCapability(capabilities, onlyFor.capability) !== onlyFor.isLocked)
      return [];
    return event.textsFor(asking);
  });
}

/** Deletes overfull queues, which makes their clients register again, and queues of deactivated users. */
async function endQueues(db: Db, queueIds: readonly string[]): Promise<void> {
  const rows = queueIds.map((queueId) => ({ queue_id: queueId }));
  await sql`
    delete from event_queues where queue_id in (
      select v.queue_id from ${rowsAsTable(db, 'v', { queue_id: 'text' }, rows)}
    )`.execute(db);
}
