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
/** By then the forwarding job has settled the registration, unless the job is gone. */
const longestPendingMilliseconds = forwardingDeadlineMilliseconds + everyMilliseconds;
const errorCode = 'REQUEST_EXPIRED';

/**
 * Schedules an hourly task that fails registrations whose job is gone: dropped by an operator, or missing from a
 * backup. The phone gets an event and registers again instead of waiting forever. Call it before the jobs start.
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
