import type { ChannelId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import type { ServerTables } from '../../tables.js';
import type { Channel } from './channel-store.js';

const weekMilliseconds = 7 * 24 * 60 * 60_000;

/**
 * Returns the number of messages per channel in the last week, in one statement. Omits channels younger than a week.
 */
export async function readWeeklyTraffic(
  db: Kysely<ServerTables>,
  channels: readonly Pick<Channel, 'id' | 'createdAt'>[],
  now: number,
): Promise<ReadonlyMap<ChannelId, number>> {
  const since = now - weekMilliseconds;
  const ids = channels.filter(({ createdAt }) => createdAt <= since).map(({ id }) => id);
  if (ids.length === 0) return new Map();
  // Binary search by id for the last message that is too old: ids ascend with time, and `sent_at` has no index.
  const after = sql`select sent_at from messages where id > (low + high) / 2 order by id limit 1`;
  const isNew = sql`coalesce((${after}), ${now}) > ${since}`;
  const { rows } = await sql<{ channel_id: ChannelId; messages: number }>`
    with recursive span(low, high) as (
      select cast(0 as bigint), cast(coalesce(max(id), 0) as bigint) from messages
      union all
      select case when ${isNew} then low else (low + high) / 2 + 1 end,
        case when ${isNew} then (low + high) / 2 else high end
      from span where low < high
    )
    select channel_id, count(*) as messages from messages
    where channel_id in ${amongNumbers(db, ids)} and id > (select max(low) from span)
    group by channel_id`.execute(db);
  const counted = new Map(rows.map(({ channel_id, messages }) => [channel_id, Number(messages)]));
  return new Map(ids.map((id) => [id, counted.get(id) ?? 0]));
}
