import type { UserId } from '@waxwing/protocol';
import { amongNumbers, lockingRows, rowsAsTable } from '@waxwing/storage';
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

/** A user's copy of a message. */
export interface ReadCopy {
  readonly user_id: UserId;
  readonly message_id: number;
}

/**
 * Marks as read what users have not read of channels, in two statements, and of many copies no more than a limit; the
 * copies, by message and user. The caller holds the channels.
 */
export async function readOfChannels(
  db: Db,
  memberships: readonly Membership[],
  limit?: number,
): Promise<ReadCopy[]> {
  const unread = await lockUnread(db, memberships, limit);
  if (unread.length === 0) return [];
  await sql`
    update user_messages set flags = flags + ${read}
    from ${rowsAsTable(db, 'v', { user_id: 'integer', message_id: 'integer' }, unread)}
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

/** The copies that are meant, by message and user as everywhere. */
async function lockUnread(
  db: Db,
  memberships: readonly Membership[],
  limit: number | undefined,
): Promise<ReadCopy[]> {
  if (memberships.length === 0) return [];
  const userIds = ascendingIds(memberships.map(({ userId }) => userId));
  const channelIds = ascendingIds(memberships.map(({ channelId }) => channelId));
  const copies = await db
    .selectFrom('user_messages')
    .select((copy) => [
      'user_id',
      'message_id',
      copy
        .selectFrom('messages')
        .select('channel_id')
        .whereRef('messages.id', '=', 'user_messages.message_id')
        .as('channel_id'),
    ])
    .where('user_id', 'in', amongNumbers(db, userIds))
    .where(sql<boolean>`flags & ${read} = 0`)
    // No join: messages are not locked here, and a user's copies are fewer than everybody's messages.
    .where((copy) =>
      copy.exists(
        copy
          .selectFrom('messages')
          .select('messages.id')
          .whereRef('messages.id', '=', 'user_messages.message_id')
          .where('messages.channel_id', 'in', amongNumbers(db, channelIds)),
      ),
    )
    .orderBy('message_id')
    .orderBy('user_id')
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .modifyEnd(lockingRows(db))
    .execute();
  const pairs = new Set(memberships.map(({ channelId, userId }) => `${channelId} ${userId}`));
  return copies.flatMap(({ user_id, message_id, channel_id }) =>
    pairs.has(`${channel_id} ${user_id}`) ? [{ user_id, message_id }] : [],
  );
}
