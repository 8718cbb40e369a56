import type { DatabaseWithJobs } from '@waxwing/jobs';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Log } from '@waxwing/service/logging';
import { removeInBatches } from '@waxwing/storage';
import type { AddressedEvent, PublishEvents } from '../server-push-options.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { expiredCode, forwardingDeadlineMilliseconds } from './forwarding-jobs.js';

export interface FailLongPendingOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  readonly publish: PublishEvents;
  readonly clock: Clock;
  readonly log: Log;
}

/** The registrations to fail: up to `limit` that were accepted before `before` (Unix milliseconds). */
export interface LongPending {
  readonly before: number;
  readonly limit: number;
  readonly errorCode: string;
  readonly now: number;
}

interface FailingLongPending {
  /** Name of the schedule. */
  readonly name: string;
  /** Fails registrations, and returns an event for each. */
  fail(transaction: PushTransaction, longPending: LongPending): Promise<readonly AddressedEvent[]>;
}

const everyMilliseconds = 60 * 60_000;
/** Age at which the forwarding job has settled a registration, unless the job no longer exists. */
const longestPendingMilliseconds = forwardingDeadlineMilliseconds + everyMilliseconds;

/**
 * Schedules an hourly task that fails registrations whose job no longer exists, because an operator dropped the job or
 * a restored backup lacks it. The phone gets an event and registers again, instead of waiting forever. Call it before
 * the jobs are started.
 */
export function scheduleFailureOfLongPending(
  { database, publish, clock, log }: FailLongPendingOptions,
  { name, fail }: FailingLongPending,
): void {
  database.jobs.schedule(name, everyMilliseconds, async (signal) => {
    const now = clock();
    const before = now - longestPendingMilliseconds;
    const failSome = (limit: number) =>
      database.write(async (transaction) => {
        const events = await fail(transaction, { before, limit, errorCode: expiredCode, now });
        await publish(transaction, events);
        return events.length;
      });
    const failed = await removeInBatches(failSome, signal);
    if (failed > 0)
      log.warn({ failed }, 'registrations have failed because no job forwarded them to the relay');
  });
}
