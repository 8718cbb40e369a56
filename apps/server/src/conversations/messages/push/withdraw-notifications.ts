import type { ServerContext } from '../../../context.js';
import type { ServerTransaction } from '../../../tables.js';
import { enqueueJob } from '../transaction-jobs.js';
import { type CopiesOfMessages, clearNotifiedOfMessages, type UsersWhoLeft } from './clear-notified.js';
import { forgetLeftChannelsJob, removeNotificationsJob } from './message-jobs.js';

type Context = Pick<ServerContext, 'clock' | 'database'>;

/**
 * Retracts push notifications for messages. Call this before copies are deleted. Enqueues a single job, which sends
 * one notification per 200 messages of a user.
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
 * Enqueues a job that retracts push notifications for channels that users have left. The job looks up the notifications
 * after the users have left, so that it also finds notifications being sent concurrently.
 */
export async function retractFromUsersWhoLeft(
  transaction: ServerTransaction,
  context: Context,
  usersWhoLeft: UsersWhoLeft,
): Promise<void> {
  if (usersWhoLeft.userIds.length === 0) return;
  await enqueueJob(transaction, context, forgetLeftChannelsJob, usersWhoLeft);
}
