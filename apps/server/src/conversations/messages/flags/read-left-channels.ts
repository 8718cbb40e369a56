import { rowsAsTable } from '@waxwing/storage';
import { sql } from 'kysely';
import type { ServerContext } from '../../../context.js';
import { ascendingIds } from '../../../people/permissions/ascending-ids.js';
import type { ServerTransaction } from '../../../tables.js';
import { lockChannels } from '../../channels/channel-store.js';
import type { Membership } from '../../channels/subscription-store.js';
import { enqueueJob, handleJob, oneDay, type TransactionJob } from '../transaction-jobs.js';
import { eventsOfReading, readOfChannels } from './read-of-channels.js';

/** Job that marks the remaining unread messages of channels that users have left as read. */
export const readLeftChannelsJob: TransactionJob<{ readonly left: readonly Membership[] }> = {
  kind: 'messages/read-left-channels',
  concurrency: 1,
  lifetimeMilliseconds: 7 * oneDay,
};

type Context = Pick<ServerContext, 'clock' | 'database' | 'publish'>;

/**
 * Marks unread messages of channels that users have left as read, and publishes events. Handles a limited number of
 * copies at once and enqueues a job for the rest. The job skips users who have rejoined. The caller must have locked
 * the channels.
 */
export async function readLeftChannels(
  transaction: ServerTransaction,
  context: Context,
  left: readonly Membership[],
  limit?: number,
): Promise<void> {
  const { copies, rest } = await readOfChannels(transaction.db, left, limit);
  await context.publish(transaction, eventsOfReading(copies));
  if (rest.length > 0) await enqueueJob(transaction, context, readLeftChannelsJob, { left: rest });
}

/** Registers the handler for {@link readLeftChannelsJob}. Call this before starting the database's jobs. */
export function markLeftChannelsReadJob(context: Context): void {
  handleJob(context, readLeftChannelsJob, async (transaction, { left }) => {
    await lockChannels(transaction, ascendingIds(left.map(({ channelId }) => channelId)));
    await readLeftChannels(transaction, context, await stillOutside(transaction, left));
  });
}

async function stillOutside(
  { db }: ServerTransaction,
  left: readonly Membership[],
): Promise<readonly Membership[]> {
  const rows = left.map(({ channelId, userId }) => ({ channel_id: channelId, user_id: userId }));
  const columns = { channel_id: 'integer', user_id: 'integer' } as const;
  const outside = await sql<(typeof rows)[number]>`
    select v.channel_id, v.user_id from ${rowsAsTable(db, 'v', columns, rows)}
    join subscriptions on subscriptions.channel_id = v.channel_id and subscriptions.user_id = v.user_id
    where subscriptions.is_active = 0`.execute(db);
  return outside.rows.map(({ channel_id, user_id }) => ({ channelId: channel_id, userId: user_id }));
}
