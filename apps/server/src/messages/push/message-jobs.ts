import type { Job } from '@waxwing/jobs';
import type { ServerContext } from '../../context.js';
import type { ServerTransaction } from '../../tables.js';
import { clearNotifiedOfLeavers, type Leavers, type RemovePayload } from './clear-notified.js';
import { tellPhones } from './tell-phones.js';

/** Kind of the job that tells phones of one message. */
export const notifyOfMessageJob = 'messages/notify-of-message';
/** Kind of the job that has phones forget messages. */
export const removeNotificationsJob = 'messages/remove-notifications';
/** Kind of the job that has phones forget what they were told of channels that their users have left. */
export const forgetLeftChannelsJob = 'messages/forget-left-channels';

/** As many ids as a notification holds. */
const messagesPerRemoval = 200;
const concurrency = 4;

type Context = Pick<ServerContext, 'clock' | 'database' | 'realm' | 'serverPush'>;

/** Says who does the jobs about messages; call it before the database's jobs are started. */
export function handleMessageJobs(context: Context): void {
  const handle = (kind: string, apply: (transaction: ServerTransaction, job: Job) => Promise<void>): void => {
    context.database.jobs.handle(kind, {
      concurrency,
      giveUp: () => async () => undefined,
      run: async (job) => ({ kind: 'done', apply: (transaction) => apply(transaction, job) }),
    });
  };
  handle(notifyOfMessageJob, (transaction, { payload, giveUpAt }) =>
    tellPhones(transaction, context, JSON.parse(payload), giveUpAt),
  );
  handle(removeNotificationsJob, (transaction, { payload, giveUpAt }) =>
    removeFromPhones(transaction, context, JSON.parse(payload), giveUpAt),
  );
  handle(forgetLeftChannelsJob, async (transaction, { payload, giveUpAt }) => {
    const removed = await clearNotifiedOfLeavers(transaction.db, JSON.parse(payload) as Leavers);
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
      await serverPush.notify(transaction, { userId, content, giveUpAt });
    }
  }
}
