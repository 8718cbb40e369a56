import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';
import { enqueueJob } from '../transaction-jobs.js';
import { type CopiesOfMessages, clearNotifiedOfMessages, type Leavers } from './clear-notified.js';
import { forgetLeftChannelsJob, removeNotificationsJob } from './message-jobs.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/**
 * Has phones forget messages that their users were told of. Call it before copies are deleted. One job for all, and one
 * notification for many messages of a user.
 */
export async function withdrawNotifications(
  transaction: ServerTransaction,
  context: Context,
  copies: CopiesOfMessages,
): Promise<void> {
  if (copies.messageIds.length === 0) return;
  const payload = await clearNotifiedOfMessages(transaction.db, copies);
  if (payload.length > 0) await enqueueJob(transaction, context, removeNotificationsJob, payload);
}

/**
 * Has the phones of those who have left channels forget what they were told of these. What they were told is looked for once
 * they have left for good, so that what is being told meanwhile is found too.
 */
export async function withdrawFromLeavers(
  transaction: ServerTransaction,
  context: Context,
  leavers: Leavers,
): Promise<void> {
  if (leavers.userIds.length === 0) return;
  await enqueueJob(transaction, context, forgetLeftChannelsJob, leavers);
}
