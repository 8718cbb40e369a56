import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Metrics } from '@waxwing/service/metrics';
import { removeInPages } from '@waxwing/storage';
import type { AddressedEvent, PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { removalDelayMilliseconds } from './removal-jobs.js';

export interface RemoveUnrenewedOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/**
 * The registrations that were accepted before `before`. They are also removed at the relay, at `runAt` or later. Times
 * are in Unix milliseconds.
 */
export interface Unrenewed {
  readonly before: number;
  readonly now: number;
  readonly runAt: number;
}

/** A device and the time when its newest registration was accepted. */
interface Registered<Id> {
  readonly id: Id;
  /** Unix milliseconds. */
  readonly registeredAt: number;
}

interface RemovingUnrenewed<Id extends number> {
  /** Name of the schedule. */
  readonly name: string;
  /** Label for the removed rows in the metric. */
  readonly rowKind: string;
  /** Reads devices with ids greater than `after`, in id order. */
  read(db: ServerPushDb, after: Id, limit: number): Promise<readonly Registered<Id>[]>;
  /** Removes the devices that are still unrenewed, here and at the relay. Returns an event for each. */
  remove(
    transaction: PushTransaction,
    ids: readonly Id[],
    unrenewed: Unrenewed,
  ): Promise<readonly AddressedEvent[]>;
}

type ServerPushDb = DatabaseWithJobs<ServerPushTables>['db'];

const dayMilliseconds = 24 * 60 * 60_000;
/**
 * Time without a registration after which an app is considered unused. Phones register every 30 days, when the app
 * starts.
 */
const renewalDeadlineMilliseconds = 90 * dayMilliseconds;

/**
 * Schedules a weekly task that removes devices, both here and at the relay, if their phone has not registered for 90
 * days. A phone that is still in use gets an event and registers again. Must be called before the jobs start.
 */
export function scheduleRemovalOfUnrenewed<Id extends number>(
  { database, publish, clock, metrics }: RemoveUnrenewedOptions,
  removing: RemovingUnrenewed<Id>,
): void {
  database.jobs.schedule(removing.name, 7 * dayMilliseconds, async (signal, { isContinued }) => {
    // Waits a week after downtime or a clock change: phones could not register during the downtime, or the clock may be
    // wrong.
    if (!isContinued) return;
    const now = clock();
    const before = now - renewalDeadlineMilliseconds;
    const read = (after: number, limit: number) => removing.read(database.db, after as Id, limit);
    const remove = async (devices: Awaited<ReturnType<typeof read>>) => {
      const ids = devices.flatMap(({ id, registeredAt }) => (registeredAt < before ? [id] : []));
      if (ids.length === 0) return 0;
      return database.write(async (transaction) => {
        const runAt = now + removalDelayMilliseconds;
        const events = await removing.remove(transaction, ids, { before, now, runAt });
        await publish(transaction, events);
        return events.length;
      });
    };
    const removed = await removeInPages({ read, remove }, signal);
    metrics.rowsRemoved.inc({ kind: removing.rowKind }, removed);
  });
}
