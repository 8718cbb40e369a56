import { type JsonObject, stringifyJson, type UserId } from '@waxwing/protocol';
import type { AddressedEvent } from '@waxwing/server-push';
import type { Clock } from '@waxwing/service/lifecycle';
import { amongNumbersOf, fixedQuery, lockingRows, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { roles } from '../permissions/roles.js';
import type { ServerTables, ServerTransaction } from '../tables.js';
import { type ClientCapability, hasCapability } from './client-capabilities.js';
import { type EventQueueRow, isLive, maximumEventsPerQueue } from './event-queue-store.js';
import { insertEvents, type SharedTexts } from './insert-events.js';
import type { QueueListeners } from './queue-listeners.js';
import { beginPublishing } from './read-with-queue.js';

type Db = Kysely<ServerTables>;
/** A queue, and whether it gets the messages of all public channels: a guest's no longer does. */
type LockedQueue = EventQueueRow & { readonly follows_public: number };

/** An event, and whom it is for. */
export interface PublishedEvent extends AddressedEvent {
  /** Only for queues of clients that have said, or have not said, that they can do this. */
  readonly onlyFor?: { readonly capability: ClientCapability; readonly isHeld: boolean };
  /** Not for queues that get events of this type, which say the same. */
  readonly withheldWith?: string;
  /** For queues that get the messages of all public channels too, but for those of these users. */
  readonly publicBut?: ReadonlySet<UserId>;
  /** The queues of its audience end instead of getting it. */
  readonly endsQueues?: boolean;
  /** How it reads in a queue, where that differs by what its client has asked for; `event` then only names its type. */
  readonly variantFor?: (queue: AskingQueue) => EventVariant | undefined;
}

/** What the client of a queue has asked for. */
export interface AskingQueue {
  readonly queueId: string;
  readonly userId: UserId;
  readonly appliesMarkdown: boolean;
  readonly makesAvatars: boolean;
  /** JSON array of the terms that messages must meet; null for all messages. */
  readonly narrow: string | null;
  can(capability: ClientCapability): boolean;
}

/** An event, or several for it, as some queues get it: written once for all queues whose variants have the same key. */
interface EventVariant {
  readonly key: string;
  write(): JsonObject | readonly JsonObject[];
}

/** Tells audiences of events, within the transaction of what they tell of. */
export type ServerPublish = (
  transaction: ServerTransaction,
  events: readonly PublishedEvent[],
) => Promise<void>;

/** An event as it is looked at for each queue: what all queues ask of it is made once. */
interface OutgoingEvent {
  readonly type: unknown;
  /** Empty where the queue does not get it after all. */
  textsFor(queue: AskingQueue): readonly string[];
  readonly audience: ReadonlySet<UserId>;
  readonly publicBut: PublishedEvent['publicBut'];
  readonly onlyFor: PublishedEvent['onlyFor'];
  readonly withheldWith: PublishedEvent['withheldWith'];
}

/**
 * Puts events into the queues of their audiences, and wakes who waits for them. It is done at the end of the transaction,
 * for all that was published in it at once: in a number of statements that does not grow with events, users or queues,
 * and with the queues locked in one order, after everything else, so that no two transactions wait for each other.
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

/** The queues that have got something, or have ended. */
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

/** Thousands of queues say the same. */
function readingOnce<Value>(read: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const value = known.get(text) ?? read(text);
    known.set(text, value);
    return value;
  };
}

/** A number that no other text has. */
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
  /** Of these users, queues that nobody used for too long too. */
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

/** Users as JSON arrays of ids. */
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
    if (onlyFor !== undefined && hasCapability(capabilities, onlyFor.capability) !== onlyFor.isHeld)
      return [];
    return event.textsFor(asking);
  });
}

/** Deletes queues that hold too much, whose clients have to start again, and those of users who are gone. */
async function endQueues(db: Db, queueIds: readonly string[]): Promise<void> {
  const rows = queueIds.map((queueId) => ({ queue_id: queueId }));
  await sql`
    delete from event_queues where queue_id in (
      select v.queue_id from ${rowsAsTable(db, 'v', { queue_id: 'text' }, rows)}
    )`.execute(db);
}
