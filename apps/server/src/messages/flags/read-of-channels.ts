import type { MessageId, UserId } from '@waxwing/protocol';
import { lockingRows, rowsAsTable } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { Membership } from '../../channels/subscription-store.js';
import type { PublishedEvent } from '../../event-queues/publish-events.js';
import { ascendingIds } from '../../permissions/ascending-ids.js';
import { gatheredBy } from '../../permissions/gathered-by.js';
import type { ServerTables } from '../../tables.js';
import { messageFlags } from '../message-flags.js';
import { plainFlagEvent } from './flag-events.js';

type Db = Transaction<ServerTables>;

const read = sql.raw(String(messageFlags.read));

const copyColumns = { user_id: 'integer', message_id: 'integer' } as const;

/** A user's copy of a message. */
export interface ReadCopy {
  readonly user_id: UserId;
  readonly message_id: MessageId;
}

/**
 * Marks as read what users have not read of channels, in three statements for 500 of them, and of many copies no more than a
 * limit; the copies, by message and user. The caller holds the channels.
 */
export async function readOfChannels(
  db: Db,
  memberships: readonly Membership[],
  limit?: number,
): Promise<ReadCopy[]> {
  const found = await findUnread(db, memberships, limit);
  if (found.length === 0) return [];
  const unread = await lockUnread(db, found);
  await sql`
    update user_messages set flags = flags + ${read}
    from ${rowsAsTable(db, 'v', copyColumns, unread)}
    where user_messages.user_id = v.user_id and user_messages.message_id = v.message_id`.execute(db);
  return unread;
}

/** What users' own clients are told of it. */
export function eventsOfReading(copies: readonly ReadCopy[]): PublishedEvent[] {
  return [...gatheredBy(copies, ({ user_id }) => user_id)].map(([userId, own]) =>
    plainFlagEvent(
      userId,
      { flag: 'read', op: 'add' },
      own.map(({ message_id }) => message_id),
    ),
  );
}

/** So many are named in the text of a statement. */
const usersAtOnce = 500;

/** The copies that are meant, which others may change yet. */
async function findUnread(
  db: Db,
  memberships: readonly Membership[],
  limit = Number.MAX_SAFE_INTEGER,
): Promise<ReadCopy[]> {
  const pairs = new Set(memberships.map(({ channelId, userId }) => `${channelId} ${userId}`));
  const userIds = ascendingIds(memberships.map(({ userId }) => userId));
  const channelIds = ascendingIds(memberships.map(({ channelId }) => channelId));
  const found: ReadCopy[] = [];
  for (let start = 0; start < userIds.length && found.length < limit; start += usersAtOnce) {
    const copies = await db
      .selectFrom('user_messages as copy')
      .innerJoin('messages', 'messages.id', 'copy.message_id')
      .select(['copy.user_id', 'copy.message_id', 'messages.channel_id'])
      // Named one by one: of a list in one parameter PostgreSQL takes many users, and reads what everybody has unread.
      .where('copy.user_id', 'in', userIds.slice(start, start + usersAtOnce))
      .where('messages.channel_id', 'in', channelIds)
      .where(sql<boolean>`copy.flags & ${read} = 0`)
      .orderBy('copy.message_id')
      .orderBy('copy.user_id')
      .limit(limit - found.length)
      .execute();
    const meant = copies.filter(({ channel_id, user_id }) => pairs.has(`${channel_id} ${user_id}`));
    for (const { user_id, message_id } of meant) found.push({ user_id, message_id });
  }
  return found;
}

/** Those that are still unread, by message and user as everywhere. */
async function lockUnread(db: Db, copies: readonly ReadCopy[]): Promise<ReadCopy[]> {
  const { rows } = await sql<ReadCopy & { readonly flags: number }>`
    select copy.user_id, copy.message_id, copy.flags
    from ${rowsAsTable(db, 'v', copyColumns, copies)}
    join user_messages as copy on copy.message_id = v.message_id and copy.user_id = v.user_id
    order by copy.message_id, copy.user_id
    ${lockingRows(db)}`.execute(db);
  // Not asked of the database, which might look among all that is unread for these few.
  return rows.flatMap(({ user_id, message_id, flags }) =>
    (flags & messageFlags.read) === 0 ? [{ user_id, message_id }] : [],
  );
}
