import type { ChannelId, UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows, rowsAsTable } from '@waxwing/storage';
import { type Kysely, sql, type Transaction } from 'kysely';
import { ascendingIds } from '../../people/permissions/ascending-ids.js';
import { groupedBy } from '../../people/permissions/grouped-by.js';
import type { ServerTables } from '../../tables.js';
import { nextColors } from './subscription-colors.js';
import type { SubscriptionRow } from './subscription-record.js';

/** A user's subscription to a channel. */
export interface Membership {
  readonly channelId: ChannelId;
  readonly userId: UserId;
  /** Defaults to the next color of the palette. */
  readonly color?: string | undefined;
}

const pairColumns = { channel_id: 'integer', user_id: 'integer' } as const;

/**
 * Subscribes users to channels, in two statements. Returns the subscriptions of users who were not subscribed. A
 * returning user keeps the former settings. A new one gets phone notifications if that is the channel's default. The
 * caller has locked the channels.
 */
export async function insertSubscriptions(
  db: Transaction<ServerTables>,
  memberships: readonly Membership[],
): Promise<SubscriptionRow[]> {
  if (memberships.length === 0) return [];
  const rows = await colored(db, memberships);
  const columns = { ...pairColumns, color: 'text' } as const;
  const inserted = await sql<SubscriptionRow>`
    insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top, push_notifications)
    select v.channel_id, v.user_id, 1, v.color, 0, 0, nullif(channels.default_push_notifications, 0)
    from ${rowsAsTable(db, 'v', columns, rows)} join channels on channels.id = v.channel_id
    where true
    order by v.channel_id, v.user_id
    on conflict (channel_id, user_id) do update set is_active = 1 where subscriptions.is_active = 0
    returning *`.execute(db);
  return inserted.rows;
}

/** Unsubscribes users from channels, in one statement. Returns the memberships that were active. */
export async function removeSubscriptions(
  db: Transaction<ServerTables>,
  memberships: readonly Membership[],
): Promise<Membership[]> {
  if (memberships.length === 0) return [];
  const rows = memberships.map(({ channelId, userId }) => ({ channel_id: channelId, user_id: userId }));
  const removed = await sql<{ channel_id: ChannelId; user_id: UserId }>`
    update subscriptions set is_active = 0
    from (
      select active.channel_id, active.user_id
      from ${rowsAsTable(db, 'v', pairColumns, rows)}
      join subscriptions as active on active.channel_id = v.channel_id and active.user_id = v.user_id
      where active.is_active = 1
      -- Whoever tells their phones keeps them in this order too.
      order by active.channel_id, active.user_id
      ${lockingRows(db)}
    ) as held
    where subscriptions.channel_id = held.channel_id and subscriptions.user_id = held.user_id
    returning subscriptions.channel_id, subscriptions.user_id`.execute(db);
  return removed.rows.map(({ channel_id, user_id }) => ({ channelId: channel_id, userId: user_id }));
}

/** All current and former subscriptions of a user. */
export function subscriptionsOf(db: Kysely<ServerTables>, userId: UserId): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('channel_id')
    .execute();
}

async function colored(db: Kysely<ServerTables>, memberships: readonly Membership[]) {
  const userIds = ascendingIds(memberships.map(({ userId }) => userId));
  const known = await db
    .selectFrom('subscriptions')
    .select(['user_id', 'color'])
    .where('user_id', 'in', amongNumbers(db, userIds))
    .execute();
  const used = groupedBy(known, ({ user_id }) => user_id);
  return userIds.flatMap((userId) => {
    const own = memberships.filter((each) => each.userId === userId);
    const colors = nextColors(used.get(userId)?.map(({ color }) => color) ?? [], own.length);
    return own.map(({ channelId, color }, index) => ({
      channel_id: channelId,
      user_id: userId,
      color: color ?? (colors[index] as string),
    }));
  });
}
