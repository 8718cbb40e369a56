import type { ChannelId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import type { PublishedEvent } from '../../platform/event-queues/publish-events.js';
import type { ServerTables } from '../../tables.js';
import { type ChannelAudience, readAudience, readersOfChannel } from './channel-audience.js';
import type { ChannelRecord } from './channel-record.js';
import type { Channel } from './channel-store.js';
import { readInherited, withInherited } from './inherited-notifications.js';
import { peersOf } from './peer-events.js';
import { readChannelRecords } from './read-channel-records.js';
import { type SubscriptionRecord, type SubscriptionRow, writeSubscription } from './subscription-record.js';
import type { Membership } from './subscription-store.js';

interface Joined {
  readonly channels: readonly Channel[];
  /** The new subscriptions. */
  readonly rows: readonly SubscriptionRow[];
  /** Channels that were just created. */
  readonly created: ReadonlySet<ChannelId>;
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The events after users subscribe to channels. Users who can now see a channel get the channel, new subscribers their
 * subscription, and all other users who can see the channel the new subscribers.
 */
export async function eventsOfJoining(
  db: Kysely<ServerTables>,
  { channels, rows, created, now }: Joined,
): Promise<PublishedEvent[]> {
  const concerned = channels.filter(({ id }) => created.has(id) || rows.some((row) => row.channel_id === id));
  if (concerned.length === 0) return [];
  const audience = await readAudience(
    db,
    concerned.map(({ id }) => id),
  );
  const records = await readChannelRecords(db, concerned, now);
  return [
    ...concerned.flatMap((channel) => channelMadeKnown(channel, { audience, records, rows, created })),
    ...(await additions(db, { audience, records, rows })),
    ...concerned.flatMap((channel) => peersOf('peer_add', channel, { audience, joinedOrLeft: rows })),
  ];
}

interface Known {
  readonly audience: ChannelAudience;
  readonly records: ReadonlyMap<ChannelId, ChannelRecord>;
  readonly rows: readonly SubscriptionRow[];
}

function channelMadeKnown(
  channel: Channel,
  { audience, records, rows, created }: Known & Pick<Joined, 'created'>,
): PublishedEvent[] {
  const readers = readersOfChannel(audience, channel);
  const joined = rows.filter(({ channel_id }) => channel_id === channel.id).map(({ user_id }) => user_id);
  const others = new Set(readersOfChannel(withoutSubscribers(audience, joined), channel));
  const notified = created.has(channel.id) ? readers : joined.filter((id) => !others.has(id));
  const record = records.get(channel.id);
  if (record === undefined || notified.length === 0) return [];
  return [{ event: { type: 'stream', op: 'create', streams: [record] }, audience: notified }];
}

/** The audience before these users subscribed. */
function withoutSubscribers(audience: ChannelAudience, userIds: readonly UserId[]): ChannelAudience {
  const gone = new Set(userIds);
  return { ...audience, subscribersOf: (id) => audience.subscribersOf(id).filter((each) => !gone.has(each)) };
}

async function additions(
  db: Kysely<ServerTables>,
  { audience, records, rows }: Known,
): Promise<PublishedEvent[]> {
  const byUser = groupedBy(rows, ({ user_id }) => user_id);
  const inheritedBy = await readInherited(db, [...byUser.keys()]);
  return [...byUser].map(([userId, own]) => ({
    event: { type: 'subscription' },
    // Written lazily, only for existing queues: thousands of users may join at once, and each event lists them all.
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
              : [written(writeSubscription(record, row, audience.subscribersOf(row.channel_id)))];
          }),
        }),
      };
    },
    audience: [userId],
  }));
}

/**
 * The events after users leave channels. Leaving users get the channels they left, users losing visibility the channel's
 * removal, and all other users who can see the channel who has left.
 */
export async function eventsOfLeaving(
  db: Kysely<ServerTables>,
  channels: readonly Channel[],
  left: readonly Membership[],
): Promise<PublishedEvent[]> {
  if (left.length === 0) return [];
  const rows = left.map(({ channelId, userId }) => ({ channel_id: channelId, user_id: userId }));
  const concerned = channels.filter(({ id }) => left.some(({ channelId }) => channelId === id));
  const audience = await readAudience(
    db,
    concerned.map(({ id }) => id),
  );
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
    const readers = new Set(readersOfChannel(audience, channel));
    const usersLosingAccess = left.filter(
      ({ channelId, userId }) => channelId === channel.id && !readers.has(userId),
    );
    if (usersLosingAccess.length === 0) return [];
    return [{ event: channelGone(channel.id), audience: usersLosingAccess.map(({ userId }) => userId) }];
  });
  const peers = concerned.flatMap((channel) =>
    peersOf('peer_remove', channel, { audience, joinedOrLeft: rows }),
  );
  return [...removals, ...ends, ...peers];
}

/** The event for users who can no longer see a channel. */
export function channelGone(channelId: ChannelId) {
  return { type: 'stream', op: 'delete', stream_ids: [channelId], streams: [{ stream_id: channelId }] };
}
