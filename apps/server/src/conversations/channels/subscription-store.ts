import type { ChannelId, UserId } from '@waxwing/protocol';
import { inPieces, lockingRows, numbersIn, rowsAsTable } from '@waxwing/storage';
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

/**
 * Subscribes users to channels, in pieces ({@link inPieces}). Returns the memberships that were not active before.
 * Users who rejoin keep their previous settings. New subscribers get push notifications if that is the channel's
 * default. The caller must have locked the channels.
 */
export async function insertSubscriptions(
  db: Transaction<ServerTables>,
  memberships: readonly Membership[],
): Promise<Membership[]> {
  const joined: Membership[] = [];
  await inPieces(db, await colored(db, memberships), async (piece) => {
    const { rows } = await sql<Membership>`
      with alike as materialized (${alikeTable(db, piece)})
      insert into subscriptions (channel_id, user_id, is_active, color, is_muted, pin_to_top, push_notifications)
      select alike.channel_id, member.value, 1, alike.color, 0, 0, nullif(channels.default_push_notifications, 0)
      from alike join channels on channels.id = alike.channel_id
        cross join ${numbersIn(db, 'alike.user_ids', 'member')}
      where true
      order by alike.channel_id, member.value
      on conflict (channel_id, user_id) do update set is_active = 1 where subscriptions.is_active = 0
      returning channel_id as "channelId", user_id as "userId"`.execute(db);
    for (const row of rows) joined.push(row);
  });
  return joined;
}

/** Unsubscribes users from channels, in pieces ({@link inPieces}). Returns the memberships that were active before. */
export async function removeSubscriptions(
  db: Transaction<ServerTables>,
  memberships: readonly Membership[],
): Promise<Membership[]> {
  const left: Membership[] = [];
  await inPieces(db, memberships, async (piece) => {
    const { rows } = await sql<Membership>`
      update subscriptions set is_active = 0
      from (
        select active.channel_id, active.user_id
        from ${pairTable(db, piece)}
        join subscriptions as active on active.channel_id = v.channel_id and active.user_id = v.user_id
        where active.is_active = 1
        -- Locks in a fixed order, which prevents deadlocks.
        order by active.channel_id, active.user_id
        ${lockingRows(db)}
      ) as held
      where subscriptions.channel_id = held.channel_id and subscriptions.user_id = held.user_id
      returning subscriptions.channel_id as "channelId", subscriptions.user_id as "userId"`.execute(db);
    for (const row of rows) left.push(row);
  });
  return left;
}

/** Returns the stored subscriptions for these memberships. */
export async function findSubscriptions(
  db: Kysely<ServerTables>,
  memberships: readonly Membership[],
): Promise<SubscriptionRow[]> {
  const found: SubscriptionRow[] = [];
  await inPieces(db, memberships, async (piece) => {
    const { rows } = await sql<SubscriptionRow>`
      select subscriptions.*
      from ${pairTable(db, piece)}
      join subscriptions on subscriptions.channel_id = v.channel_id and subscriptions.user_id = v.user_id`.execute(
      db,
    );
    for (const row of rows) found.push(row);
  });
  return found;
}

function pairTable(db: Kysely<ServerTables>, memberships: readonly Membership[]) {
  const rows = memberships.map(({ channelId, userId }) => ({ channel_id: channelId, user_id: userId }));
  return rowsAsTable(db, 'v', { channel_id: 'integer', user_id: 'integer' }, rows);
}

const alikeColumns = { channel_id: 'integer', color: 'text', user_ids: 'text' } as const;

/**
 * Returns memberships as an SQL table with one JSON row per channel and color. Encoding one JSON row per membership
 * would take longer than storing the membership.
 */
function alikeTable(db: Kysely<ServerTables>, memberships: readonly Membership[]) {
  const alike = groupedBy(memberships, ({ channelId, color }) => `${channelId} ${color}`);
  const rows = [...alike.values()].map((same) => ({
    channel_id: same[0]?.channelId ?? 0,
    color: same[0]?.color ?? '',
    user_ids: JSON.stringify(same.map(({ userId }) => userId)),
  }));
  return sql`select * from ${rowsAsTable(db, 'v', alikeColumns, rows)}`;
}

/** Returns all current and former subscriptions of a user. */
export function subscriptionsOf(db: Kysely<ServerTables>, userId: UserId): Promise<SubscriptionRow[]> {
  return db
    .selectFrom('subscriptions')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('channel_id')
    .execute();
}

/**
 * Chooses the missing colors. Returns the memberships sorted by channel and user, because SQLite inserts fastest in
 * primary key order.
 */
async function colored(
  db: Kysely<ServerTables>,
  memberships: readonly Membership[],
): Promise<readonly Membership[]> {
  const byUser = groupedBy(memberships, ({ userId }) => userId);
  const used = await readColors(db, ascendingIds(byUser.keys()));
  return [...byUser]
    .flatMap(([userId, own]) => {
      const colors = nextColors(used.get(userId) ?? [], own.length);
      return own.map((each, index) => ({ ...each, color: each.color ?? (colors[index] as string) }));
    })
    .sort((a, b) => a.channelId - b.channelId || a.userId - b.userId);
}

/**
 * Maximum number of subscriptions per user from which colors are read. Twice the palette size, which is enough to
 * find the used colors.
 */
const mostColors = 48;

/** Returns the colors of up to {@link mostColors} subscriptions of each user. Omits users without subscriptions. */
async function readColors(
  db: Kysely<ServerTables>,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, readonly string[]>> {
  const found = new Map<UserId, readonly string[]>();
  await inPieces(db, userIds, async (piece) => {
    const asked = piece.map((user_id) => ({ user_id }));
    const { rows } = await sql<{ user_id: UserId; colors: string | null }>`
      select v.user_id, (
        select string_agg(color, ' ')
        from (select color from subscriptions where user_id = v.user_id limit ${sql.lit(mostColors)}) as known
      ) as colors
      from ${rowsAsTable(db, 'v', { user_id: 'integer' }, asked)}`.execute(db);
    for (const { user_id, colors } of rows) if (colors !== null) found.set(user_id, colors.split(' '));
  });
  return found;
}
