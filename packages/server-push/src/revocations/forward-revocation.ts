import type { DatabaseWithJobs, Job, JobOutcome } from '@waxwing/jobs';
import type { SealedRevocationOnWire } from '@waxwing/protocol';
import type { Clock } from '@waxwing/service/lifecycle';
import type { RelayLink } from '../relay-link/relay-link.js';
import { retryLater } from '../relay-link/retry-later.js';
import type { PushTransaction, ServerPushTables } from '../tables.js';

export const forwardRevocationJob = 'revocations/forward';
// Time after which the job gives up. By then, an unused registration has expired at the relay, or the vendor has
// reported its token as dead.
const deadlineMilliseconds = 30 * 86_400_000;
const capMilliseconds = 60 * 60_000;
const concurrency = 4;

/** Enqueues the forwarding job in the transaction that accepts the revocation. */
export async function enqueueRevocation(
  { jobs }: Pick<DatabaseWithJobs<ServerPushTables>, 'jobs'>,
  transaction: PushTransaction,
  revocation: SealedRevocationOnWire,
  now: number,
): Promise<void> {
  const giveUpAt = now + deadlineMilliseconds;
  await jobs.enqueue(transaction, {
    kind: forwardRevocationJob,
    payload: JSON.stringify(revocation),
    runAt: now,
    giveUpAt,
  });
}

export interface RevocationOptions {
  readonly database: DatabaseWithJobs<ServerPushTables>;
  /** Returns `undefined` if the organization has no relay. */
  link(): RelayLink | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Registers the handler for the forwarding job. The job retries until the relay has accepted or refused the revocation,
 * or reports an unknown operation, as stock relays do.
 */
export function handleRevocations(options: RevocationOptions): void {
  const { database, clock, random } = options;

  async function run(job: Job, signal: AbortSignal): Promise<JobOutcome<ServerPushTables>> {
    const backoff = { clock, random, capMilliseconds };
    const link = options.link();
    if (link === undefined) return retryLater(job, { reason: 'no relay is configured' }, backoff);
    const outcome = await link.revoke(JSON.parse(job.payload) as SealedRevocationOnWire, signal);
    if (outcome.kind !== 'retry') return { kind: 'done' };
    if (signal.aborted) return { kind: 'retry', at: clock(), reason: 'the server was closing' };
    return retryLater(job, outcome, backoff);
  }

  database.jobs.handle(forwardRevocationJob, { concurrency, run, giveUp: () => async () => undefined });
}
