import type { ChannelId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import { readPermissions, roleGroupIds } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { type ChannelRecord, writeChannel } from './channel-record.js';
import type { Channel } from './channel-store.js';
import { countSubscribers } from './channel-subscribers.js';
import { readWeeklyTraffic } from './weekly-traffic.js';

/** Page size. Small enough to avoid noticeable delays for other requests. */
const channelsPerPage = 250;

/** Yields pages of channel records in the given order. Each page is current when it is read. */
export async function* channelRecordPages(
  db: Kysely<ServerTables>,
  channels: readonly Channel[],
  now: number,
): AsyncGenerator<ChannelRecord[]> {
  for (let from = 0; from < channels.length; from += channelsPerPage) {
    const page = channels.slice(from, from + channelsPerPage);
    yield [...(await readChannelRecords(db, page, now)).values()];
  }
}

/** Builds channel records for responses and events, by id, in a constant number of statements. */
export async function readChannelRecords(
  db: Kysely<ServerTables>,
  channels: readonly Channel[],
  now: number,
): Promise<ReadonlyMap<ChannelId, ChannelRecord>> {
  if (channels.length === 0) return new Map();
  const ids = channels.map(({ id }) => id);
  const permissionsOf = await readPermissions(db, 'channel', ids);
  const roleGroups = await roleGroupIds(db);
  const counts = await countSubscribers(db, ids);
  const traffic = await readWeeklyTraffic(db, channels, now);
  return new Map(
    channels.map((channel) => {
      const permissions = permissionsOf(channel.id);
      const subscriberCount = counts.get(channel.id) ?? 0;
      const weeklyTraffic = traffic.get(channel.id) ?? null;
      const related = { permissions, subscriberCount, weeklyTraffic, roleGroups, now };
      return [channel.id, writeChannel(channel, related)];
    }),
  );
}
