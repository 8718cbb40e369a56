import type { ChannelId, UserId } from '@waxwing/protocol';
import type { Kysely } from 'kysely';
import type { ServerTables } from '../../../tables.js';

/** Reads a user's muted channels. Returns a predicate that tests whether a channel is among them. */
export async function readSubscribedMutes(
  db: Kysely<ServerTables>,
  userId: UserId,
): Promise<(channelId: ChannelId) => boolean> {
  const rows = await db
    .selectFrom('subscriptions')
    .select('channel_id')
    .where('user_id', '=', userId)
    .where('is_muted', '=', 1)
    .execute();
  const muted = new Set(rows.map(({ channel_id }) => channel_id));
  return (channelId) => muted.has(channelId);
}
