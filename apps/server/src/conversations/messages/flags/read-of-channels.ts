import type { MessageId, UserId } from '@waxwing/protocol';
import { lockingRows, rowsAsTable } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import { groupedBy } from '../../../people/permissions/grouped-by.js';
import type { PublishedEvent } from '../../../platform/event-queues/published-event.js';
import type { ServerTables } from '../../../tables.js';
import type { Membership } from '../../channels/subscription-store.js';
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

/** The copies that were marked as read, and the users who may have more unread copies. */
export interface Reading {
  /** Sorted by message, then user. */
  readonly copies: readonly ReadCopy[];
  /** Users and channels that may have more unread copies because the limit was reached. */
  readonly rest: readonly Membership[];
}

/** Default limit of copies per call. Small enough to avoid delaying other writers. */
const copiesAtOnce = 10_000;

/**
 * Marks users' unread messages in channels as read, in three statements per 500 users with the same channels.
 * Proceeds by ascending user id and stops after `limit` copies. The caller must have locked the channels.
 */
export async function readOfChannels(
  db: Db,
  memberships: readonly Membership[],
  limit = copiesAtOnce,
): Promise<Reading> {
  const { found, rest } = await findUnread(db, memberships, limit);
  if (found.length === 0) return { copies: [], rest };
  const copies = await lockUnread(db, found);
  await sql`
    update user_messages set flags = flags + ${read}
    from ${rowsAsTable(db, 'v', copyColumns, copies)}
    where user_messages.user_id = v.user_id and user_messages.message_id = v.message_id`.execute(db);
  return { copies, rest };
}

/** Builds one `update_message_flags` event for each user with copies marked as read. */
export function eventsOfReading(copies: readonly ReadCopy[]): PublishedEvent[] {
  return [...groupedBy(copies, ({ user_id }) => user_id)].map(([userId, own]) =>
    plainFlagEvent(
      userId,
      { flag: 'read', op: 'add' },
      own.map(({ message_id }) => message_id),
    ),
  );
}

/** Maximum number of user ids in the SQL text of one statement. */
const usersAtOnce = 500;

/** Finds unread copies without locking them, and the users who have more copies than the limit allows. */
async function findUnread(db: Db, memberships: readonly Membership[], limit: number) {
  const found: ReadCopy[] = [];
  const rest: Membership[] = [];
  for (const { channelIds, userIds } of inStatements(memberships)) {
    const room = limit - found.length;
    const copies = room === 0 ? [] : await unreadOf(db, { channelIds, userIds }, room);
    found.push(...copies);
    const firstLeft = room === 0 ? userIds[0] : copies[room - 1]?.user_id;
    if (firstLeft === undefined) continue;
    for (const userId of userIds.filter((id) => id >= firstLeft))
      rest.push(...channelIds.map((channelId) => ({ channelId, userId })));
  }
  return { found, rest };
}

/** Users in ascending order, all with the same list of channels. */
interface Alike {
  readonly channelIds: readonly Membership['channelId'][];
  readonly userIds: readonly UserId[];
}

function inStatements(memberships: readonly Membership[]): Alike[] {
  const byUser = groupedBy(memberships, ({ userId }) => userId);
  const channelsOf = (userId: UserId) =>
    ascendingIds((byUser.get(userId) ?? []).map(({ channelId }) => channelId));
  const alike = groupedBy(ascendingIds(byUser.keys()), (userId) => channelsOf(userId).join());
  return [...alike.values()].flatMap((userIds) => {
    const statements: Alike[] = [];
    for (let start = 0; start < userIds.length; start += usersAtOnce) {
      const some = userIds.slice(start, start + usersAtOnce);
      statements.push({ channelIds: channelsOf(some[0] as UserId), userIds: some });
    }
    return statements;
  });
}

function unreadOf(db: Db, { channelIds, userIds }: Alike, limit: number): Promise<ReadCopy[]> {
  return (
    db
      .selectFrom('user_messages as copy')
      .innerJoin('messages', 'messages.id', 'copy.message_id')
      .select(['copy.user_id', 'copy.message_id'])
      // Writes the ids into the SQL: for an array parameter, PostgreSQL expects many users and scans all unread copies.
      .where('copy.user_id', 'in', userIds)
      .where('messages.channel_id', 'in', channelIds)
      .where(sql<boolean>`copy.flags & ${read} = 0`)
      .orderBy('copy.user_id')
      .orderBy('copy.message_id')
      .limit(limit)
      .execute()
  );
}

/**
 * Locks the copies that are still unread. Locks by message and then by user, the order that all code uses to avoid
 * deadlocks.
 */
async function lockUnread(db: Db, copies: readonly ReadCopy[]): Promise<ReadCopy[]> {
  const { rows } = await sql<ReadCopy & { readonly flags: number }>`
    select copy.user_id, copy.message_id, copy.flags
    from ${rowsAsTable(db, 'v', copyColumns, copies)}
    join user_messages as copy on copy.message_id = v.message_id and copy.user_id = v.user_id
    order by copy.message_id, copy.user_id
    ${lockingRows(db)}`.execute(db);
  // Filters here, because an SQL condition could make the database scan the index of all unread copies.
  return rows.flatMap(({ user_id, message_id, flags }) =>
    (flags & messageFlags.read) === 0 ? [{ user_id, message_id }] : [],
  );
}
