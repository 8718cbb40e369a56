import type { Metrics } from '@waxwing/service/metrics';
import type { ServerContext } from './context.js';
import { removeIdleQueues, removeUnheldTexts } from './event-queues/remove-idle-queues.js';
import { settleFullMembers } from './realm/settle-full-members.js';

export interface ServerJobsOptions extends Pick<ServerContext, 'database' | 'clock' | 'publish'> {
  readonly metrics: Metrics;
}

const removeIdleQueuesEveryMilliseconds = 5 * 60_000;
// The waiting period is a number of days.
const settleFullMembersEveryMilliseconds = 60 * 60_000;

/** Everything that the server does by the clock, in its database's jobs. Call it before they are started. */
export function scheduleServerJobs(options: ServerJobsOptions): void {
  const { database, metrics } = options;
  database.jobs.schedule('event-queues/remove-idle', removeIdleQueuesEveryMilliseconds, async (signal) => {
    metrics.rowsRemoved.inc({ kind: 'event-queue' }, await removeIdleQueues(options, signal));
    metrics.rowsRemoved.inc({ kind: 'event' }, await removeUnheldTexts(options, signal));
  });
  database.jobs.schedule('realm/settle-full-members', settleFullMembersEveryMilliseconds, () =>
    settleFullMembers(options),
  );
}
