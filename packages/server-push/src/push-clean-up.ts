import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Metrics } from '@waxwing/service/metrics';
import { removeInBatches } from '@waxwing/storage';
import { deleteOldReports } from './notifications/delivery-reports.js';
import { deleteOldTestNotifications } from './notifications/test-notification-limits.js';
import { deleteLongFailed } from './push-devices/push-device-store.js';
import { deleteFullRates } from './registrations/registration-rate.js';
import type { ServerPushTables } from './tables.js';

export interface PushCleanUpOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const hourMilliseconds = 60 * 60_000;
/** How long a failed device is kept if its phone does not register again. */
const failedRetentionMilliseconds = 30 * 24 * hourMilliseconds;

/**
 * Schedules the hourly cleanup of failed devices, old test notifications, old reports, and rate-limit allowances that
 * are full again. Call it before the jobs are started.
 */
export function schedulePushCleanUp({ database, clock, metrics }: PushCleanUpOptions): void {
  database.jobs.schedule('push-devices/remove-failed', hourMilliseconds, async (signal) => {
    const before = clock() - failedRetentionMilliseconds;
    const removeSome = (limit: number) =>
      database.write((transaction) => deleteLongFailed(transaction, before, limit));
    metrics.rowsRemoved.inc({ kind: 'failed-push-device' }, await removeInBatches(removeSome, signal));
  });
  database.jobs.schedule('notifications/remove-old-tests', hourMilliseconds, async (signal) => {
    const now = clock();
    const removeSome = (limit: number) =>
      database.write((transaction) => deleteOldTestNotifications(transaction, now, limit));
    metrics.rowsRemoved.inc({ kind: 'test-notification' }, await removeInBatches(removeSome, signal));
  });
  database.jobs.schedule('notifications/remove-old-reports', hourMilliseconds, async (signal) => {
    const now = clock();
    const removeSome = (limit: number) =>
      database.write((transaction) => deleteOldReports(transaction, now, limit));
    metrics.rowsRemoved.inc({ kind: 'delivery-report' }, await removeInBatches(removeSome, signal));
  });
  database.jobs.schedule('push-devices/remove-full-rates', hourMilliseconds, async (signal) => {
    const now = clock();
    const removeSome = (limit: number) =>
      database.write((transaction) => deleteFullRates(transaction, now, limit));
    metrics.rowsRemoved.inc({ kind: 'full-registration-rate' }, await removeInBatches(removeSome, signal));
  });
}
