import type { Metrics } from '@waxwing/service/metrics';
import { removeUnclaimedUploads } from './content/uploads/remove-unclaimed-uploads.js';
import type { ServerContext } from './context.js';
import { deleteOldMessages } from './conversations/channel-administration/delete-old-messages.js';
import { removeOldFailures } from './membership/sign-in/remove-old-failures.js';
import { settleFullMembers } from './people/realm/settle-full-members.js';
import { removeIdleQueues, removeUnusedTexts } from './platform/event-queues/remove-idle-queues.js';

export interface ServerJobsOptions
  extends Pick<ServerContext, 'database' | 'clock' | 'log' | 'publish' | 'uploads'> {
  readonly metrics: Metrics;
}

const removeIdleQueuesEveryMilliseconds = 5 * 60_000;
const removeOldFailuresEveryMilliseconds = 5 * 60_000;
// Once an hour is enough: the waiting period is a number of days.
const settleFullMembersEveryMilliseconds = 60 * 60_000;
// Once an hour is enough: retention is a number of days.
const deleteOldMessagesEveryMilliseconds = 60 * 60_000;
const removeUploadsEveryMilliseconds = 60 * 60_000;

/** Schedules the server's periodic jobs. Call this before starting the database's jobs. */
export function scheduleServerJobs(options: ServerJobsOptions): void {
  const { database, metrics } = options;
  database.jobs.schedule('event-queues/remove-idle', removeIdleQueuesEveryMilliseconds, async (signal) => {
    metrics.rowsRemoved.inc({ kind: 'event-queue' }, await removeIdleQueues(options, signal));
    metrics.rowsRemoved.inc({ kind: 'event' }, await removeUnusedTexts(options, signal));
  });
  database.jobs.schedule(
    'sign-in/remove-old-failures',
    removeOldFailuresEveryMilliseconds,
    async (signal) => {
      metrics.rowsRemoved.inc({ kind: 'sign-in-failure' }, await removeOldFailures(options, signal));
    },
  );
  database.jobs.schedule('realm/settle-full-members', settleFullMembersEveryMilliseconds, (signal) =>
    settleFullMembers(options, signal),
  );
  database.jobs.schedule('messages/delete-old', deleteOldMessagesEveryMilliseconds, async (signal) => {
    metrics.rowsRemoved.inc({ kind: 'message' }, await deleteOldMessages(options, signal));
  });
  database.jobs.schedule('uploads/remove-unclaimed', removeUploadsEveryMilliseconds, async (signal) => {
    metrics.rowsRemoved.inc({ kind: 'upload' }, await removeUnclaimedUploads(options, signal));
  });
}
