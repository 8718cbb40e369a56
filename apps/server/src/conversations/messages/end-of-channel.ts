import { type RawBuilder, sql } from 'kysely';

/**
 * Subquery for a column of the oldest or newest message of the channel in the row of `channels`. One index lookup.
 *
 * A plain `where channel_id = channels.id order by id limit 1` lets PostgreSQL scan the primary key for the first message
 * of the channel. For a channel without messages, that scans all messages.
 */
export function endOfChannel(end: 'oldest' | 'newest', column: 'id' | 'sent_at'): RawBuilder<number | null> {
  const [beyond, order] =
    end === 'oldest'
      ? [sql`> (channels.id, 0)`, sql`messages.channel_id, messages.id`]
      : [sql`< (channels.id + 1, 0)`, sql`messages.channel_id desc, messages.id desc`];
  return sql<number | null>`
    select found.${sql.ref(column)} from (
      select messages.channel_id, messages.id, messages.sent_at from messages
      where (messages.channel_id, messages.id) ${beyond} order by ${order} limit 1
    ) as found
    where found.channel_id = channels.id`;
}
