import { type RawBuilder, sql } from 'kysely';

/**
 * Returns a subquery for a column of a channel's oldest or newest message, correlated with the row of `channels`. It
 * takes one index lookup.
 *
 * With a plain `where channel_id = channels.id order by id limit 1`, PostgreSQL may scan the primary key for the
 * channel's first message. If the channel has no messages, that scans all messages.
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
