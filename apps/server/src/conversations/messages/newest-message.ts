import { type Kysely, sql } from 'kysely';
import type { PermissionHolder } from '../../people/permissions/permission-store.js';
import { roles } from '../../platform/authentication/roles.js';
import type { ServerTables } from '../../tables.js';
import { endOfChannel } from './end-of-channel.js';
import { isReadable, readableChannels } from './message-access.js';

const none = -1;
/** Number of the organization's newest messages to check first. At least one of them is almost always readable. */
const newestMessages = 100;

/** Returns the id of the newest message that the reader may read, or -1 if there is none. */
export async function newestMessageId(db: Kysely<ServerTables>, reader: PermissionHolder): Promise<number> {
  return (await amongNewest(db, reader)) ?? (await newestByChannels(db, reader)) ?? none;
}

async function amongNewest(db: Kysely<ServerTables>, reader: PermissionHolder): Promise<number | null> {
  const { rows } = await sql<{ newest: number | null }>`
    select max(messages.id) as newest from messages
    where messages.id > (select max(id) from messages) - ${newestMessages} and ${isReadable(reader)}`.execute(
    db,
  );
  return rows[0]?.newest ?? null;
}

/**
 * Returns the id of the newest message that is in a readable channel with public history, or that the reader may read
 * and has a copy of. Uses index lookups instead of scanning other users' messages.
 */
async function newestByChannels(db: Kysely<ServerTables>, reader: PermissionHolder): Promise<number | null> {
  // A guest can usually read only a few channels. The indexes find these without a check of every channel.
  const isOpenToGuest = sql`channels.id in (
    select id from channels where is_web_public = 1
    union all
    select channel_id from subscriptions where user_id = ${reader.id} and is_active = 1
  )`;
  const isCandidate = reader.role === roles.guest ? isOpenToGuest : sql`1 = 1`;
  const { rows } = await sql<{ newest: number | null }>`
    select max(newest) as newest from (
      select (${endOfChannel('newest', 'id')}) as newest
      from channels where ${isCandidate} and id in (${readableChannels(reader, sql`is_history_public = 1 and ${isCandidate}`)})
      union all
      select (
        select own.message_id from user_messages as own join messages on messages.id = + own.message_id
        where own.user_id = ${reader.id} and ${isReadable(reader)}
        order by own.message_id desc limit 1
      ) as newest
    ) as candidates`.execute(db);
  return rows[0]?.newest ?? null;
}
