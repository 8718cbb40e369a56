import type { ChannelId, UserId } from '@waxwing/protocol';
import { type Kysely, sql } from 'kysely';
import { roles } from '../../platform/authentication/roles.js';
import type { EventsForOwners, EventsToPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTables, ServerTransaction } from '../../tables.js';
import { lockChannels } from './channel-store.js';
import { eventsOfJoining } from './subscription-events.js';
import { insertSubscriptions } from './subscription-store.js';

/** Returns the ids of the channels that new users are subscribed to, in ascending order. */
export async function defaultChannelIds(db: Kysely<ServerTables>): Promise<ChannelId[]> {
  const rows = await db
    .selectFrom('channels')
    .select('id')
    // A literal, because SQLite would not use the partial index over default channels for a parameter.
    .where(sql<boolean>`is_default = 1`)
    .where('is_archived', '=', 0)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Subscribes a new user to the default channels. Returns the events to publish. */
export async function subscribeToDefaults(
  transaction: ServerTransaction,
  userId: UserId,
  now: number,
): Promise<EventsToPublish> {
  const { db } = transaction;
  const locked = await lockChannels(transaction, await defaultChannelIds(db));
  const channels = locked.filter(({ isDefault, isArchived }) => isDefault && !isArchived);
  const joined = await insertSubscriptions(
    db,
    channels.map(({ id }) => ({ channelId: id, userId })),
  );
  return eventsOfJoining(db, { channels, joined, created: new Set(), now });
}

/** Builds the event with the current default channels. Its audience is all active users except guests. */
export async function defaultChannelsEvent(db: Kysely<ServerTables>): Promise<EventsForOwners> {
  const event = { type: 'default_streams', default_streams: await defaultChannelIds(db) };
  return {
    types: [event.type],
    build(owners) {
      const members = owners.filter(({ role }) => role !== roles.guest);
      return [{ event, audience: members.map(({ id }) => id) }];
    },
  };
}
