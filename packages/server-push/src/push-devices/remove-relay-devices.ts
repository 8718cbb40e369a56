import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import { maximumRemovedDevices } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayLink } from '../relay-link/relay-link.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { deletePushDevicesOf, type FreedRelayDevice, sortFreedDevices } from './push-device-store.js';

/** Kind of the job that asks the relay to delete devices. */
export const removeRelayDevicesJob = 'push-devices/remove-relay-devices';

// A relay that is unreachable for this long drops devices by itself once the vendors report them dead.
const removalDeadlineMilliseconds = 7 * 24 * 60 * 60_000;
const capMilliseconds = 60 * 60_000;
const whilePendingMilliseconds = 60_000;
const concurrency = 4;

/** Relay devices to remove. */
export interface RelayDeviceRemoval {
  readonly freed: readonly FreedRelayDevice[];
  /** Unix milliseconds. */
  readonly now: number;
  /** Earliest start, in Unix milliseconds; default: now. */
  readonly runAt?: number;
}

/** Enqueues the removal in the transaction that deletes the PushDevices, split into jobs of bounded size. */
export async function enqueueRemoval(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { freed, now, runAt = now }: RelayDeviceRemoval,
): Promise<void> {
  const giveUpAt = now + removalDeadlineMilliseconds;
  for (let start = 0; start < freed.length; start += maximumRemovedDevices) {
    const some = freed.slice(start, start + maximumRemovedDevices);
    const payload = JSON.stringify({
      freed: some.map(({ relayDeviceId, pushAccountId }) => ({ relayDeviceId, pushAccountId })),
    });
    await jobs.enqueue(transaction, { kind: removeRelayDevicesJob, payload, runAt, giveUpAt });
  }
}

/**
 * Deletes all PushDevices of a user, for instance when their API key changes. Pending registrations end without
 * effect. A durable job asks the relay to delete its devices, with retries for a week.
 */
export async function removePushDevicesOf(
  database: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  userId: UserId,
  now: number,
): Promise<void> {
  const freed = await deletePushDevicesOf(transaction, userId);
  await enqueueRemoval(database, transaction, { freed, now });
}

export interface RemoveRelayDevicesOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** `undefined` if the organization has no relay. */
  readonly link: RelayLink | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Handles the removal job. Retries until the relay has removed the devices, answers that it does not know the
 * operation (as stock relays do), or a week has passed. Skips devices that a PushDevice uses. Waits while a pending
 * registration may get the same device.
 */
export function removeRelayDevicesHandler(options: RemoveRelayDevicesOptions): JobHandler<ServerPushTables> {
  const { database, link, clock, random } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const { freed } = JSON.parse(job.payload) as Pick<RelayDeviceRemoval, 'freed'>;
    const { free, undecided } = await sortFreedDevices(database.db, freed);
    if (free.length > 0) {
      if (link === undefined)
        return retryLater(job, { reason: 'no relay is configured' }, { clock, random, capMilliseconds });
      const outcome = await link.remove(free, signal);
      if (outcome.kind === 'retry') {
        if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
        return retryLater(job, outcome, { clock, random, capMilliseconds });
      }
    }
    if (undecided.length === 0) return { kind: 'done' };
    const reason = 'a registration of the same device is pending';
    return { kind: 'retry', at: clock() + whilePendingMilliseconds, reason };
  }

  return { concurrency, run, giveUp: () => async () => undefined };
}
