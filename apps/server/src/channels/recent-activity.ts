import type { ChannelId } from '@waxwing/protocol';
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { PublishedEvent } from '../event-queues/publish-events.js';
import type { ServerTables } from '../tables.js';
import { readAudience, readersOfChannel } from './channel-audience.js';
import { type Channel, findChannels } from './channel-store.js';

const recentMilliseconds = 180 * 24 * 60 * 60_000;

/** Whether somebody has written in the channel, or made it, not long before an instant. */
export function isRecentlyActive(
  { lastMessageAt, createdAt }: Pick<Channel, 'lastMessageAt' | 'createdAt'>,
  now: number,
): boolean {
  return Math.max(lastMessageAt ?? 0, createdAt) > now - recentMilliseconds;
}

/** Of a row of channels: 1 where it is not {@link isRecentlyActive}. */
export function isDormant(now: number): RawBuilder<number> {
  const since = now - recentMilliseconds;
  return sql<number>`case when coalesce(last_message_at, 0) <= ${since} and created_at <= ${since} then 1 else 0 end`;
}

/** What those who may know of channels are told where nothing had happened in them for long, and something has now. */
export async function awakeningEvents(
  db: Kysely<ServerTables>,
  dormantIds: readonly ChannelId[],
  now: number,
): Promise<PublishedEvent[]> {
  if (dormantIds.length === 0) return [];
  const audience = await readAudience(db, dormantIds);
  return (await findChannels(db, dormantIds))
    .filter((channel) => isRecentlyActive(channel, now))
    .map((channel) => ({
      event: {
        type: 'stream',
        op: 'update',
        ...{ stream_id: channel.id, name: channel.name, property: 'is_recently_active', value: true },
      },
      audience: readersOfChannel(audience, channel),
    }));
}
