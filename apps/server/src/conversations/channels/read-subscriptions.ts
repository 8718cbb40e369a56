import type { UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { membersPerPiece } from '../../people/permissions/member-lists.js';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import type { ChannelRecord } from './channel-record.js';
import type { Channel } from './channel-store.js';
import { readSubscribers } from './channel-subscribers.js';
import { compareNames } from './compare-names.js';
import { readKnownChannels } from './known-channels.js';
import { channelRecordPages } from './read-channel-records.js';
import { type SubscriptionRecord, type SubscriptionRow, writeSubscription } from './subscription-record.js';
import { subscriptionsOf } from './subscription-store.js';

interface Wanted {
  readonly includesSubscribers: boolean;
  readonly includesArchived: boolean;
  /** Whether to read only the channels that the user is subscribed to. The other lists are then empty. */
  readonly isOnlySubscribed?: boolean;
  /** Unix milliseconds. */
  readonly now: number;
}

type UnjoinedRecord = ChannelRecord & { subscribers?: UserId[] };

/**
 * All channels that a user can see, split by the user's subscription. Each list is sorted by name and read in pages.
 */
export interface OwnSubscriptions {
  readonly subscriptions: AsyncIterable<SubscriptionRecord[]>;
  /** Channels that the user has left. */
  readonly unsubscribed: AsyncIterable<SubscriptionRecord[]>;
  readonly neverSubscribed: AsyncIterable<UnjoinedRecord[]>;
}

/** Finds the channels that a user can see. Reads each page of records only when the lists are iterated. */
export async function readOwnSubscriptions(
  db: Kysely<ServerTables>,
  actor: PermissionHolder,
  { includesArchived, isOnlySubscribed = false, ...wanted }: Wanted,
): Promise<OwnSubscriptions> {
  const own = new Map((await subscriptionsOf(db, actor.id)).map((row) => [row.channel_id, row]));
  const active = [...own.values()].filter((row) => row.is_active === 1).map((row) => row.channel_id);
  const channels = (await readKnownChannels(db, actor, isOnlySubscribed ? active : undefined))
    .map(({ channel }) => channel)
    .filter(({ isArchived }) => includesArchived || !isArchived)
    .sort(compareNames);
  const pages = (isListed: (row: SubscriptionRow | undefined) => boolean) =>
    recordPages(
      db,
      channels.filter(({ id }) => isListed(own.get(id))),
      wanted,
    );
  const subscribed = async function* (isActive: number) {
    for await (const page of pages((row) => row?.is_active === isActive)) {
      yield page.map(({ subscribers, ...record }) =>
        writeSubscription(record, own.get(record.stream_id) as SubscriptionRow, subscribers),
      );
    }
  };
  return {
    subscriptions: subscribed(1),
    unsubscribed: subscribed(0),
    neverSubscribed: pages((row) => row === undefined),
  };
}

async function* recordPages(
  db: Kysely<ServerTables>,
  channels: readonly Channel[],
  { includesSubscribers, now }: Omit<Wanted, 'includesArchived' | 'isOnlySubscribed'>,
): AsyncGenerator<UnjoinedRecord[]> {
  for await (const records of channelRecordPages(db, channels, now)) {
    if (!includesSubscribers) yield records;
    else for (const few of withFewSubscribers(records)) yield await addSubscribers(db, few);
  }
}

/**
 * Splits channels into pages whose subscribers fit into one statement. A channel with more subscribers than that gets
 * its own page.
 */
function* withFewSubscribers(records: readonly ChannelRecord[]): Generator<ChannelRecord[]> {
  let page: ChannelRecord[] = [];
  let subscribers = 0;
  for (const record of records) {
    subscribers += record.subscriber_count;
    if (subscribers > membersPerPiece && page.length > 0) {
      yield page;
      page = [];
      subscribers = record.subscriber_count;
    }
    page.push(record);
  }
  yield page;
}

async function addSubscribers(
  db: Kysely<ServerTables>,
  records: readonly ChannelRecord[],
): Promise<UnjoinedRecord[]> {
  const subscribers = await readSubscribers(
    db,
    records.map(({ stream_id }) => stream_id),
  );
  return records.map((record) => ({ ...record, subscribers: subscribers.get(record.stream_id) ?? [] }));
}
