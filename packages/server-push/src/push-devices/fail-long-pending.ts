import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { removeInBatches } from '@waxwing/storage';
import type { PublishEvents } from '../server-push-options.js';
import type { ServerPushTables } from '../tables.js';
import { forwardingDeadlineMilliseconds } from './forward-registration.js';
import { failLongPending } from './pending-registrations.js';
import { pushDeviceEvent } from './push-device-state.js';

export interface FailLongPendingOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly log: Log;
}

const everyMilliseconds = 60 * 60_000;
/** By then the job that forwards a registration has ended it, unless there is none any more. */
const longestPendingMilliseconds = forwardingDeadlineMilliseconds + everyMilliseconds;
const errorCode = 'REQUEST_EXPIRED';

/**
 * Has registrations fail whose job is gone, because an operator dropped it or a backup did not have it: the phone is
 * told, and registers again, instead of waiting without end. Call it before the jobs are started.
 */
export function scheduleFailureOfLongPending({
  database,
  publish,
  clock,
  log,
}: FailLongPendingOptions): void {
  database.jobs.schedule('push-devices/fail-long-pending', everyMilliseconds, async (signal) => {
    const now = clock();
    const before = now - longestPendingMilliseconds;
    const failSome = (limit: number) =>
      database.write(async (transaction) => {
        const failed = await failLongPending(transaction, { before, limit, errorCode, now });
        const events = failed.map(({ userId, pushAccountId }) => ({
          event: pushDeviceEvent(pushAccountId, errorCode),
          audience: [userId],
        }));
        await publish(transaction, events);
        return failed.length;
      });
    const failed = await removeInBatches(failSome, signal);
    if (failed > 0) log.warn({ failed }, 'registrations have failed that no job took to the relay');
  });
}
