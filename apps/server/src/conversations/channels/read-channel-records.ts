import type { ChannelId } from '@waxwing/protocol';
import { isAmong } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import { readPermissions, roleGroupIds } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { type ChannelRecord, writeChannel } from './channel-record.js';
import type { Channel } from './channel-store.js';
import { readWeeklyTraffic } from './weekly-traffic.js';

/** Writes channels for answers and events, by id. A constant number of statements for any number of channels. */
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

async function countSubscribers(
  db: Kysely<ServerTables>,
  ids: readonly ChannelId[],
): Promise<ReadonlyMap<ChannelId, number>> {
  const rows = await db
    .selectFrom('subscriptions')
    .innerJoin('users', 'users.id', 'subscriptions.user_id')
    .where('subscriptions.is_active', '=', 1)
    .where('users.is_active', '=', 1)
    .where(isAmong(db, 'channel_id', 'integer', ids))
    .groupBy('channel_id')
    .select(({ fn }) => ['channel_id', fn.countAll<number>().as('subscribers')])
    .execute();
  return new Map(rows.map(({ channel_id, subscribers }) => [channel_id, Number(subscribers)]));
}
