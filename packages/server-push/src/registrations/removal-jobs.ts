import type { DatabaseWithJobs, Job, JobOutcome } from '@waxwing/jobs';
import { maximumRemovedDevices } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { Kysely } from 'kysely';
import type { RelayOutcome, RelayRetry } from '../relay-link/relay-answer.js';
import type { RelayLink } from '../relay-link/relay-link.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';

// Time after which the job gives up. The relay drops the devices itself once the vendors report them dead.
const removalDeadlineMilliseconds = 7 * 24 * 60 * 60_000;
const capMilliseconds = 60 * 60_000;
const whilePendingMilliseconds = 60_000;
const concurrency = 4;

const noRelay: RelayRetry = {
  kind: 'retry',
  cause: 'admin-must-act',
  reason: 'no relay is configured',
  retryAfterSeconds: undefined,
  httpStatus: undefined,
};

/**
 * Delay before a removal. A phone that is still in use registers again when it gets the event, and the relay may then
 * give it the same device.
 */
export const removalDelayMilliseconds = 10 * 60_000;

/**
 * The functions that remove one generation's devices at the relay. A `Name` identifies a device and is stored as JSON.
 */
export interface Removing<Name> {
  readonly jobKind: string;
  /** Groups freed devices by whether they may be removed. Devices that are in use again are in no group. */
  sort(db: Kysely<ServerPushTables>, freed: readonly Name[]): Promise<SortedNames<Name>>;
  /** Builds the form for the request to the relay. */
  encode(realmUuid: string, sorted: SortedNames<Name>): Record<string, string>;
}

/** Freed devices, grouped by the action that the relay should take. */
export interface SortedNames<Name> {
  /** Devices to remove, because no active or pending registration uses them. */
  readonly free: readonly Name[];
  /** Devices to decide on later, because a pending registration may get the same device. */
  readonly undecided: readonly Name[];
  /** Devices to keep, because other accounts share them. The relay drops its queued notifications for these names. */
  readonly ended?: readonly Name[];
}

/** Devices to remove at the relay. */
export interface Removal<Name> {
  readonly freed: readonly Name[];
  /** Unix milliseconds. */
  readonly now: number;
  /** Earliest start, in Unix milliseconds; default: now. */
  readonly runAt?: number;
}

/** Enqueues the removal in the transaction that frees the devices. Splits it into jobs of bounded size. */
export async function enqueueRemovalJobs<Name>(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  { jobKind }: Pick<Removing<Name>, 'jobKind'>,
  { freed, now, runAt = now }: Removal<Name>,
): Promise<void> {
  const giveUpAt = now + removalDeadlineMilliseconds;
  for (let start = 0; start < freed.length; start += maximumRemovedDevices) {
    const payload = JSON.stringify({ freed: freed.slice(start, start + maximumRemovedDevices) });
    await jobs.enqueue(transaction, { kind: jobKind, payload, runAt, giveUpAt });
  }
}

/** Repairs devices that were registered again while a request to remove them was in flight. */
type RepairRemoved<Name> = (transaction: PushTransaction, removed: readonly Name[]) => Promise<void>;

export interface RemovalOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** Returns `undefined` if the organization has no relay. */
  link(): RelayLink | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Registers the handler for the removal job. The job retries until the relay has removed the devices or reports an
 * unknown operation (as stock relays do), or until a week has passed. It skips devices that are in use, and waits while
 * a pending registration may get the same device.
 */
export function handleRemovalJobs<Name>(
  options: RemovalOptions,
  removing: Removing<Name>,
  repair?: RepairRemoved<Name>,
): void {
  const { database, clock, random } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const { freed } = JSON.parse(job.payload) as { readonly freed: readonly Name[] };
    const sorted = await removing.sort(database.db, freed);
    const { free, undecided, ended = [] } = sorted;
    const outcome = free.length + ended.length > 0 ? await remove(sorted, signal) : undefined;
    // Also repairs after a failed request, because the relay may have processed the request.
    const apply = (transaction: PushTransaction) => repair?.(transaction, free) ?? Promise.resolve();
    const mayBeGone = free.length > 0 && outcome?.kind !== 'refused-for-good';
    const repairing = mayBeGone ? { apply } : {};
    if (outcome?.kind === 'retry') {
      if (signal.aborted)
        return { kind: 'retry', at: clock(), reason: 'the server was closing', ...repairing };
      return { ...retryLater(job, outcome, { clock, random, capMilliseconds }), ...repairing };
    }
    if (undecided.length === 0) return { kind: 'done', ...repairing };
    const reason = 'a registration of the same device is pending';
    return { kind: 'retry', at: clock() + whilePendingMilliseconds, reason, ...repairing };
  }

  async function remove(sorted: SortedNames<Name>, signal: AbortSignal): Promise<RelayOutcome<unknown>> {
    const link = options.link();
    if (link === undefined) return noRelay;
    return link.remove((realmUuid) => removing.encode(realmUuid, sorted), signal);
  }

  database.jobs.handle(removing.jobKind, { concurrency, run, giveUp: () => async () => undefined });
}
