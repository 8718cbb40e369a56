import type { DatabaseWithJobs, Job, JobHandler, JobOutcome } from '@waxwing/jobs';
import type { UserId } from '@waxwing/protocol';
import { maximumRemovedDevices } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayLink } from '../relay-link/relay-link.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';
import { deletePushDevicesOf, type FreedRelayDevice, sortFreedDevices } from './push-device-store.js';

/** Kind of the job that tells the relay which devices it should forget. */
export const removeRelayDevicesJob = 'push-devices/remove-relay-devices';

// A relay that nobody can ask for so long forgets by itself what the vendors call dead.
const tellingDeadlineMilliseconds = 7 * 24 * 60 * 60_000;
const capMilliseconds = 60 * 60_000;
const whilePendingMilliseconds = 60_000;
const concurrency = 4;

/** What has to be told to the relay. */
export interface RelayDeviceRemoval {
  readonly freed: readonly FreedRelayDevice[];
  /** Unix milliseconds. */
  readonly now: number;
  /** Not before that instant; at once where nothing is said. */
  readonly runAt?: number;
}

/** Adds the job, within the transaction that removes the PushDevices. */
export async function enqueueRemoval(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { freed, now, runAt = now }: RelayDeviceRemoval,
): Promise<void> {
  const giveUpAt = now + tellingDeadlineMilliseconds;
  for (let start = 0; start < freed.length; start += maximumRemovedDevices) {
    const some = freed.slice(start, start + maximumRemovedDevices);
    const payload = JSON.stringify({
      freed: some.map(({ relayDeviceId, pushAccountId }) => ({ relayDeviceId, pushAccountId })),
    });
    await jobs.enqueue(transaction, { kind: removeRelayDevicesJob, payload, runAt, giveUpAt });
  }
}

/**
 * Removes all PushDevices of a user; registrations that still wait for the relay end without effect, and the relay is
 * told, as soon as it can be asked, to forget what it held for them.
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
  /** `undefined` while the organisation has no relay. */
  readonly link: RelayLink | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Asks the relay until it has forgotten the devices, says that it knows no such request (as stock relays do), or a
 * week has passed. A device that a PushDevice uses, again or still, is left alone; one that a registration which waits
 * for the relay may turn out to be is looked at again when that is settled.
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
