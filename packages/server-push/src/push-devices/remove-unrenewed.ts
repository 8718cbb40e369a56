import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Metrics } from '@waxwing/service/metrics';
import { removeInPages } from '@waxwing/storage';
import type { PublishEvents } from '../server-push-options.js';
import type { PushDeviceId, ServerPushTables } from '../tables.js';
import { pushDeviceEvent, registeredAt } from './push-device-state.js';
import { deadRegistrationCode, freedBy } from './push-device-store.js';
import { enqueueRemoval } from './remove-relay-devices.js';

export interface RemoveUnrenewedOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

const dayMilliseconds = 24 * 60 * 60_000;
/** Phones register every 30 days, when their app starts. After three times that, the app is no longer in use. */
const renewalDeadlineMilliseconds = 90 * dayMilliseconds;

const removalDelayMilliseconds = 10 * 60_000;

/**
 * Schedules a daily task that removes devices whose phone has not registered for 90 days, here and at the relay. A
 * phone that still runs gets an event and registers again. Call it before the jobs start.
 */
export function scheduleRemovalOfUnrenewed(options: RemoveUnrenewedOptions): void {
  const { database, clock, metrics } = options;
  database.jobs.schedule('push-devices/remove-unrenewed', dayMilliseconds, async (signal) => {
    const now = clock();
    const before = now - renewalDeadlineMilliseconds;
    // If no phone has registered since, the clock is more likely wrong than every phone out of use.
    const renewed = await database.db
      .selectFrom('push_devices')
      .select('id')
      .where(({ fn }) => fn.coalesce('registered_at', 'changed_at'), '>=', before)
      .limit(1)
      .executeTakeFirst();
    if (renewed === undefined) return;
    const read = (after: number, limit: number) =>
      database.db
        .selectFrom('push_devices')
        .select(['id', 'registered_at', 'changed_at'])
        .where('id', '>', after as PushDeviceId)
        .orderBy('id')
        .limit(limit)
        .execute();
    const remove = async (rows: Awaited<ReturnType<typeof read>>) => {
      const ids = rows.flatMap((row) => (registeredAt(row) < before ? [row.id] : []));
      return ids.length === 0 ? 0 : removeDevices(options, ids, { before, now });
    };
    const removed = await removeInPages({ read, remove }, signal);
    metrics.rowsRemoved.inc({ kind: 'unrenewed-push-device' }, removed);
  });
}

/** Times in Unix milliseconds. */
async function removeDevices(
  { database, publish }: RemoveUnrenewedOptions,
  ids: readonly PushDeviceId[],
  { before, now }: { readonly before: number; readonly now: number },
): Promise<number> {
  return database.write(async (transaction) => {
    const removed = await transaction.db
      .deleteFrom('push_devices')
      .where('id', 'in', ids)
      // Repeats the condition: a phone can register between the read and the deletion.
      .where(({ fn }) => fn.coalesce('registered_at', 'changed_at'), '<', before)
      .returning(['user_id', 'push_account_id', 'relay_device_id'])
      .execute();
    // Delayed: a phone that still runs registers again at the event, and the relay may give it the same device.
    const runAt = now + removalDelayMilliseconds;
    await enqueueRemoval(database, transaction, { freed: freedBy(removed), now, runAt });
    const events = removed.map(({ user_id, push_account_id }) => ({
      event: pushDeviceEvent(push_account_id, deadRegistrationCode),
      audience: [user_id],
    }));
    await publish(transaction, events);
    return removed.length;
  });
}
