import { type Kysely, sql } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import type { ServerTables } from '../../tables.js';
import { endOfChannel } from './end-of-channel.js';
import { isReadable, readableChannels } from './message-access.js';

const none = -1;
/** How many ids of the organization's newest messages to try first. One of them is almost always readable. */
const newestMessages = 100;

/**
 * Returns the id of the newest message that the reader may read, or -1 if there is none. If the organization's newest
 * messages are unreadable, this is the newest message in a channel with public history or the newest one that the reader
 * has a copy of. All are index lookups, which avoid a scan over other users' messages.
 */
export async function newestMessageId(db: Kysely<ServerTables>, reader: PermissionHolder): Promise<number> {
  const { rows } = await sql<{ newest: number | null }>`
    select coalesce((
      select max(messages.id) from messages
      where messages.id > (select max(id) from messages) - ${newestMessages} and ${isReadable(reader)}
    ), (
      select max(newest) from (
        select (${endOfChannel('newest', 'id')}) as newest
        from channels where id in (${readableChannels(reader, sql`is_history_public = 1`)})
        union all
        select (
          select own.message_id from user_messages as own join messages on messages.id = + own.message_id
          where own.user_id = ${reader.id} and ${isReadable(reader)}
          order by own.message_id desc limit 1
        ) as newest
      ) as candidates
    )) as newest`.execute(db);
  return rows[0]?.newest ?? none;
}
