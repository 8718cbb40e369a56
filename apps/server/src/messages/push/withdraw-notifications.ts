import type { UserId } from '@waxwing/protocol';
import { amongNumbers } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerContext } from '../../context.js';
import { ascendingIds } from '../../permissions/ascending-ids.js';
import { gatheredBy } from '../../permissions/gathered-by.js';
import type { ServerTransaction } from '../../tables.js';
import { notifiedBit } from '../message-flags.js';
import { usersInChannel } from '../message-readers.js';
import { type RemovePayload, removeNotificationsJob } from './message-jobs.js';

/** Of no use to anybody after that. */
const lifetimeMilliseconds = 7 * 24 * 60 * 60_000;

/** Whose phones forget messages; of everybody where nothing is said. */
interface Whose {
  readonly userIds?: readonly UserId[];
  /** Of those who are not in this channel. */
  readonly outsideChannelId?: number;
}

/**
 * Has phones forget messages that their users were told of. Call it before copies are deleted. One job for all, and one notification for many messages of a user.
 */
export async function withdrawNotifications(
  transaction: ServerTransaction,
  { clock, database }: Pick<ServerContext, 'clock' | 'database'>,
  messageIds: readonly number[],
  { userIds, outsideChannelId }: Whose = {},
): Promise<void> {
  if (messageIds.length === 0) return;
  const { db } = transaction;
  const notified = await db
    .updateTable('user_messages')
    .set((copy) => ({ flags: sql<number>`${copy.ref('flags')} - ${sql.raw(String(notifiedBit))}` }))
    .where('message_id', 'in', amongNumbers(db, messageIds))
    .$if(userIds !== undefined, (query) => query.where('user_id', 'in', amongNumbers(db, userIds ?? [])))
    .$if(outsideChannelId !== undefined, (query) =>
      query.where('user_id', 'not in', usersInChannel(db, outsideChannelId ?? 0)),
    )
    .where(sql<boolean>`flags & ${sql.raw(String(notifiedBit))} <> 0`)
    .returning(['user_id', 'message_id'])
    .execute();
  if (notified.length === 0) return;
  const byUser = gatheredBy(notified, ({ user_id }) => user_id);
  const payload: RemovePayload = [...byUser].map(([userId, own]) => ({
    userId,
    messageIds: ascendingIds(own.map(({ message_id }) => message_id)),
  }));
  await database.jobs.enqueue(transaction, {
    kind: removeNotificationsJob,
    payload: JSON.stringify(payload),
    giveUpAt: clock() + lifetimeMilliseconds,
  });
}
