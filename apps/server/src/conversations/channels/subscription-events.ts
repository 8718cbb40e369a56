import type { ChannelId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import type { EventsToPublish, PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { QueueOwner } from '../../platform/event-queues/queue-owners.js';
import type { ServerTables } from '../../tables.js';
import { type ChannelAudience, readAudiences } from './channel-audience.js';
import type { ChannelRecord } from './channel-record.js';
import type { Channel } from './channel-store.js';
import { readSubscribers } from './channel-subscribers.js';
import { readInherited, withInherited } from './inherited-notifications.js';
import { peersOf } from './peer-events.js';
import { readChannelRecords } from './read-channel-records.js';
import { type SubscriptionRecord, type SubscriptionRow, writeSubscription } from './subscription-record.js';
import { findSubscriptions, type Membership } from './subscription-store.js';

const types = ['stream', 'subscription'];

interface Joined {
  readonly channels: readonly Channel[];
  /** The new subscriptions. */
  readonly joined: readonly Membership[];
  /** Channels that the same request created. */
  readonly created: ReadonlySet<ChannelId>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * Builds the events for new subscriptions. Users who could not see a channel before get the channel. New subscribers
 * get their subscription. All other users who can see the channel get the ids of the new subscribers.
 */
export function eventsOfJoining(db: Kysely<ServerTables>, facts: Joined): EventsToPublish {
  const joinedIds = new Set(facts.joined.map(({ channelId }) => channelId));
  const concerned = facts.channels.filter(({ id }) => facts.created.has(id) || joinedIds.has(id));
  if (concerned.length === 0) return [];
  return { types, build: (owners) => joiningEvents(db, { ...facts, channels: concerned }, owners) };
}

async function joiningEvents(
  db: Kysely<ServerTables>,
  { channels, joined, created, now }: Joined,
  owners: readonly QueueOwner[],
): Promise<PublishedEvent[]> {
  const audienceOf = await readAudiences(
    db,
    channels.map((channel) => ({ channel })),
    owners,
  );
  const known = new Set(owners.map(({ id }) => id));
  const own = joined.filter(({ userId }) => known.has(userId));
  const joinedIds = new Set(own.map(({ channelId }) => channelId));
  // Reads records only for channels that were created or that a queue's owner joined: reading a record counts the
  // channel's subscribers, and a channel can have thousands.
  const written = channels.filter(({ id }) => created.has(id) || joinedIds.has(id));
  const records = await readChannelRecords(db, written, now);
  return [
    ...channels.flatMap((channel) =>
      channelMadeKnown(channel, { audience: audienceOf(channel.id), records, joined: own, created }),
    ),
    ...(await additions(db, records, await findSubscriptions(db, own))),
    ...channels.flatMap((channel) =>
      peersOf('peer_add', channel, { audience: audienceOf(channel.id), joinedOrLeft: joined }),
    ),
  ];
}

interface Known extends Pick<Joined, 'created' | 'joined'> {
  readonly audience: ChannelAudience;
  readonly records: ReadonlyMap<ChannelId, ChannelRecord>;
}

function channelMadeKnown(channel: Channel, { audience, records, joined, created }: Known): PublishedEvent[] {
  const joinedIds = joined.filter(({ channelId }) => channelId === channel.id).map(({ userId }) => userId);
  const others = new Set(audience.seeingUnsubscribed());
  const notified = created.has(channel.id) ? audience.seeing() : joinedIds.filter((id) => !others.has(id));
  const record = records.get(channel.id);
  if (record === undefined || notified.length === 0) return [];
  return [{ event: { type: 'stream', op: 'create', streams: [record] }, audience: notified }];
}

async function additions(
  db: Kysely<ServerTables>,
  records: ReadonlyMap<ChannelId, ChannelRecord>,
  rows: readonly SubscriptionRow[],
): Promise<PublishedEvent[]> {
  if (rows.length === 0) return [];
  const byUser = groupedBy(rows, ({ user_id }) => user_id);
  const subscribers = await readSubscribers(db, ascendingIds(rows.map(({ channel_id }) => channel_id)));
  const inheritedBy = await readInherited(db, [...byUser.keys()]);
  return [...byUser].map(([userId, own]) => ({
    event: { type: 'subscription' },
    // Built lazily, only for existing queues: thousands of users may join in one request, and each event lists all of
    // them.
    variantFor: (queue) => {
      const knowsNull = queue.can('notification_settings_null');
      const written = (record: SubscriptionRecord) =>
        knowsNull ? record : withInherited(record, inheritedBy(userId));
      return {
        key: String(knowsNull),
        write: () => ({
          type: 'subscription',
          op: 'add',
          subscriptions: own.flatMap((row) => {
            const record = records.get(row.channel_id);
            return record === undefined
              ? []
              : [written(writeSubscription(record, row, subscribers.get(row.channel_id) ?? []))];
          }),
        }),
      };
    },
    audience: [userId],
  }));
}

/**
 * Builds the events for ended subscriptions. Users who left get a list of the channels that they left. If they can no
 * longer see a channel, they also get a deletion event. All other users who can see the channel get the ids of the
 * users who left.
 */
export function eventsOfLeaving(
  db: Kysely<ServerTables>,
  channels: readonly Channel[],
  left: readonly Membership[],
): EventsToPublish {
  if (left.length === 0) return [];
  const leftIds = new Set(left.map(({ channelId }) => channelId));
  const concerned = channels.filter(({ id }) => leftIds.has(id));
  return {
    types,
    async build(owners) {
      const wanted = concerned.map((channel) => ({ channel }));
      return leavingEvents(concerned, left, await readAudiences(db, wanted, owners));
    },
  };
}

function leavingEvents(
  concerned: readonly Channel[],
  left: readonly Membership[],
  audienceOf: (channelId: ChannelId) => ChannelAudience,
): PublishedEvent[] {
  const named = new Map(concerned.map(({ id, name }) => [id, name]));
  const removals = [...groupedBy(left, ({ userId }) => userId)].map(([userId, own]) => ({
    event: {
      type: 'subscription',
      op: 'remove',
      subscriptions: own.map(({ channelId }) => ({
        stream_id: channelId,
        name: named.get(channelId) ?? '',
      })),
    },
    audience: [userId],
  }));
  const ends = concerned.flatMap((channel): PublishedEvent[] => {
    const readers = new Set(audienceOf(channel.id).seeing());
    const usersLosingAccess = left.filter(
      ({ channelId, userId }) => channelId === channel.id && !readers.has(userId),
    );
    if (usersLosingAccess.length === 0) return [];
    return [{ event: channelGone(channel.id), audience: usersLosingAccess.map(({ userId }) => userId) }];
  });
  const peers = concerned.flatMap((channel) =>
    peersOf('peer_remove', channel, { audience: audienceOf(channel.id), joinedOrLeft: left }),
  );
  return [...removals, ...ends, ...peers];
}

/** Builds the event for users who can no longer see a channel. */
export function channelGone(channelId: ChannelId) {
  return { type: 'stream', op: 'delete', stream_ids: [channelId], streams: [{ stream_id: channelId }] };
}
