import type { UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import type { EventsForOwners, PublishedEvent } from '../../platform/event-queues/published-event.js';
import type { QueueOwner } from '../../platform/event-queues/queue-owners.js';
import type { ServerTables } from '../../tables.js';
import { type ChannelAudience, readAudiences } from './channel-audience.js';
import { type Channel, findChannels } from './channel-store.js';
import type { Membership } from './subscription-store.js';

type PeerChange = 'peer_add' | 'peer_remove';

/** Builds the event for users who joined or left a channel. The audience is all other users who can see the channel. */
export function peersOf(
  op: PeerChange,
  channel: Channel,
  {
    audience,
    joinedOrLeft,
  }: {
    readonly audience: ChannelAudience;
    readonly joinedOrLeft: readonly Membership[];
  },
) {
  const userIds = ascendingIds(
    joinedOrLeft.filter(({ channelId }) => channelId === channel.id).map(({ userId }) => userId),
  );
  if (userIds.length === 0) return [];
  const event = { type: 'subscription', op, stream_ids: [channel.id], user_ids: userIds };
  const concerned = new Set(userIds);
  return [{ event, audience: audience.seeing().filter((id) => !concerned.has(id)) }];
}

/**
 * Builds `peer_add` or `peer_remove` events for users who are activated or deactivated. Each event covers channels
 * with the same audience: all other users who can see them. Events about archived channels go only to clients that
 * support archived channels.
 */
export function eventsOfPeerActivity(
  db: Kysely<ServerTables>,
  op: PeerChange,
  userIds: readonly UserId[],
): EventsForOwners {
  return { types: ['subscription'], build: (owners) => peerActivity(db, op, userIds, owners) };
}

async function peerActivity(
  db: Kysely<ServerTables>,
  op: PeerChange,
  userIds: readonly UserId[],
  owners: readonly QueueOwner[],
): Promise<PublishedEvent[]> {
  const rows = await db
    .selectFrom('subscriptions')
    .select(['channel_id as channelId', 'user_id as userId'])
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where('is_active', '=', 1)
    .execute();
  const ids = ascendingIds(rows.map(({ channelId }) => channelId));
  const channels = await findChannels(db, ids);
  const wanted = channels.map((channel) => ({ channel }));
  const audienceOf = await readAudiences(db, wanted, owners);
  const joinedOf = groupedBy(rows, ({ channelId }) => channelId);
  const notified = channels.flatMap((channel) =>
    peersOf(op, channel, {
      audience: audienceOf(channel.id),
      joinedOrLeft: joinedOf.get(channel.id) ?? [],
    }).map((peers) => ({
      channel,
      peers,
      key: JSON.stringify([channel.isArchived, peers.event.user_ids, peers.audience]),
    })),
  );
  return [...groupedBy(notified, ({ key }) => key).values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const event = { ...first.peers.event, stream_ids: same.map(({ channel }) => channel.id) };
    const onlyFor = { capability: 'archived_channels', isLocked: true } as const;
    return [{ ...first.peers, event, ...(first.channel.isArchived ? { onlyFor } : {}) }];
  });
}
