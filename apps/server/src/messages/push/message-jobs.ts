import type { JobHandler } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import type { ServerContext } from '../../context.js';
import type { ServerTables } from '../../tables.js';
import { tellPhones } from './tell-phones.js';

/** Kind of the job that tells phones of one message. */
export const notifyOfMessageJob = 'messages/notify-of-message';
/** Kind of the job that has phones forget messages. */
export const removeNotificationsJob = 'messages/remove-notifications';

/** Whose phones are to forget which messages. */
export type RemovePayload = readonly { readonly userId: UserId; readonly messageIds: readonly number[] }[];

/** As many ids as a notification holds. */
const messagesPerRemoval = 200;
const concurrency = 4;

type Context = Pick<ServerContext, 'clock' | 'database' | 'realm' | 'serverPush'>;

/** Says who does the jobs about messages; call it before the database's jobs are started. */
export function handleMessageJobs(context: Context): void {
  const { database, serverPush } = context;
  const giveUp: JobHandler<ServerTables>['giveUp'] = () => async () => undefined;
  database.jobs.handle(notifyOfMessageJob, {
    concurrency,
    giveUp,
    run: async (job) => ({
      kind: 'done',
      apply: (transaction) => tellPhones(transaction, context, JSON.parse(job.payload), job.giveUpAt),
    }),
  });
  database.jobs.handle(removeNotificationsJob, {
    concurrency,
    giveUp,
    run: async (job) => ({
      kind: 'done',
      async apply(transaction) {
        for (const { userId, messageIds } of JSON.parse(job.payload) as RemovePayload) {
          for (let start = 0; start < messageIds.length; start += messagesPerRemoval) {
            const some = messageIds.slice(start, start + messagesPerRemoval);
            const content = { type: 'remove', messageIds: some } as const;
            await serverPush.notify(transaction, { userId, content, giveUpAt: job.giveUpAt });
          }
        }
      },
    }),
  });
}
