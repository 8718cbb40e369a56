import type { ServerContext } from '../../../context.js';
import type { ServerTransaction } from '../../../tables.js';
import { handleJob, oneDay, type TransactionJob } from '../transaction-jobs.js';
import { clearNotifiedOfUsersWhoLeft, type RemovePayload, type UsersWhoLeft } from './clear-notified.js';
import { type NotifyPayload, notifyPhones } from './notify-phones.js';

/** Job that sends push notifications for one message. */
export const notifyOfMessageJob: TransactionJob<NotifyPayload> = {
  kind: 'messages/notify-of-message',
  concurrency: 4,
  lifetimeMilliseconds: oneDay,
};
/** Job that retracts push notifications. */
export const removeNotificationsJob: TransactionJob<RemovePayload> = {
  kind: 'messages/remove-notifications',
  concurrency: 4,
  lifetimeMilliseconds: 7 * oneDay,
};
/** Job that retracts push notifications for channels that users have left. */
export const forgetLeftChannelsJob: TransactionJob<UsersWhoLeft> = {
  kind: 'messages/forget-left-channels',
  concurrency: 4,
  lifetimeMilliseconds: 7 * oneDay,
};

/** Maximum number of message ids in one retraction. */
const messagesPerRemoval = 200;

type Context = Pick<ServerContext, 'clock' | 'database' | 'realm' | 'serverPush'>;

/** Registers the handlers for the push notification jobs. Call this before starting the database's jobs. */
export function handleMessageJobs(context: Context): void {
  handleJob(context, notifyOfMessageJob, (transaction, payload, giveUpAt) =>
    notifyPhones(transaction, context, payload, giveUpAt),
  );
  handleJob(context, removeNotificationsJob, (transaction, removed, giveUpAt) =>
    removeFromPhones(transaction, context, removed, giveUpAt),
  );
  handleJob(context, forgetLeftChannelsJob, async (transaction, usersWhoLeft, giveUpAt) => {
    const removed = await clearNotifiedOfUsersWhoLeft(transaction.db, usersWhoLeft);
    await removeFromPhones(transaction, context, removed, giveUpAt);
  });
}

async function removeFromPhones(
  transaction: ServerTransaction,
  { serverPush }: Pick<ServerContext, 'serverPush'>,
  removed: RemovePayload,
  giveUpAt: number,
): Promise<void> {
  for (const { userId, messageIds } of removed) {
    for (let start = 0; start < messageIds.length; start += messagesPerRemoval) {
      const some = messageIds.slice(start, start + messagesPerRemoval);
      const content = { type: 'remove', messageIds: some } as const;
      await serverPush.notify([userId], { content, giveUpAt }, transaction);
    }
  }
}
