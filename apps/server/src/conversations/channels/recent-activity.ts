import type { ChannelId, JsonObject } from '@waxwing/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { EventsToPublish } from '../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../tables.js';
import { readAudiences } from './channel-audience.js';
import { type Channel, findChannels } from './channel-store.js';

const recentMilliseconds = 180 * 24 * 60 * 60_000;

/** Returns whether the channel was created or got a message in the 180 days before `now`. */
export function isRecentlyActive(
  { lastMessageAt, createdAt }: Pick<Channel, 'lastMessageAt' | 'createdAt'>,
  now: number,
): boolean {
  return Math.max(lastMessageAt ?? 0, createdAt) > now - recentMilliseconds;
}

/**
 * Returns an SQL expression that is 1 for rows of `channels` for which {@link isRecentlyActive} is false, otherwise 0.
 */
export function isDormant(now: number): RawBuilder<number> {
  const since = now - recentMilliseconds;
  return sql<number>`case when coalesce(last_message_at, 0) <= ${since} and created_at <= ${since} then 1 else 0 end`;
}

/** Builds the events for channels that became active again. The audience is all users who can see the channel. */
export async function awakeningEvents(
  db: Kysely<ServerTables>,
  dormantIds: readonly ChannelId[],
  now: number,
): Promise<EventsToPublish> {
  if (dormantIds.length === 0) return [];
  const awake = (await findChannels(db, dormantIds)).filter((channel) => isRecentlyActive(channel, now));
  return {
    types: ['stream'],
    async build(owners) {
      const wanted = awake.map((channel) => ({ channel }));
      const audienceOf = await readAudiences(db, wanted, owners);
      return awake.map((channel) => ({
        event: awakening(channel),
        audience: audienceOf(channel.id).seeing(),
      }));
    },
  };
}

function awakening({ id, name }: Channel): JsonObject {
  return {
    type: 'stream',
    op: 'update',
    stream_id: id,
    name,
    property: 'is_recently_active',
    value: true,
  };
}
