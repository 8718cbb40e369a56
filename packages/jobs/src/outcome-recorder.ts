import { Batcher } from '@waxwing/service/lifecycle';
import { type Database, mayBeOneWritesFault, type WriteTransaction } from '@waxwing/storage';
import type { DeadJobs } from './dead-jobs.js';
import type { Job, JobOutcome } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob, Settlement } from './lease.js';
import type { LeaseTable } from './lease-table.js';
import { printable } from './unstorable-characters.js';

export interface OutcomeRecorderOptions {
  readonly leases: LeaseTable;
  readonly database: Database<JobTables>;
  readonly dead: DeadJobs;
  /** Called after a dead letter was committed. */
  onGivenUp(job: Job, reason: string): void;
}

interface Ended {
  readonly claim: ClaimedJob;
  readonly outcome: JobOutcome<JobTables>;
}

const maximumOutcomesPerWrite = 256;

/**
 * Batches the outcomes of one event-loop tick into transactions of up to 256 outcomes. If a transaction fails, each of
 * its outcomes is recorded in a separate transaction, so that one failing `apply` does not affect the others.
 */
export class OutcomeRecorder {
  readonly #options: OutcomeRecorderOptions;
  readonly #batcher = new Batcher<Ended, boolean>((ended) => this.#recordAll(ended), {
    maximumItems: maximumOutcomesPerWrite,
    isolates: mayBeOneWritesFault,
  });

  constructor(options: OutcomeRecorderOptions) {
    this.#options = options;
  }

  /**
   * Resolves to true once the outcome and the changes of `apply` are committed. Resolves to false if the claim is
   * stale; then nothing changes. Rejects with the error of `apply`.
   */
  record(claim: ClaimedJob, outcome: JobOutcome<JobTables>): Promise<boolean> {
    return this.#batcher.add({ claim, outcome });
  }

  async #recordAll(ended: readonly Ended[]): Promise<boolean[]> {
    const ours = await this.#options.database.write((transaction) => this.#write(transaction, ended));
    return ended.map(({ claim }) => ours.has(claim));
  }

  /** Resolves to the claims that were settled. */
  async #write(
    transaction: WriteTransaction<JobTables>,
    group: readonly Ended[],
  ): Promise<ReadonlySet<ClaimedJob>> {
    const { leases, dead: deadJobs, onGivenUp } = this.#options;
    const { db } = transaction;
    const ours = await leases.settle(db, group.map(toSettlement));
    const settled = group.filter(({ claim }) => ours.has(claim));
    const dead = settled.flatMap(({ claim, outcome }) =>
      outcome.kind === 'dead' ? [{ job: claim.job, reason: printable(outcome.reason) }] : [],
    );
    await deadJobs.add(db, dead);
    transaction.afterCommit(() => {
      for (const { job, reason } of dead) onGivenUp(job, reason);
    });
    for (const { outcome } of settled) await outcome.apply?.(transaction);
    return ours;
  }
}

function toSettlement({ claim, outcome }: Ended): Settlement {
  if (outcome.kind !== 'retry') return { claim, next: undefined };
  const runAt = Math.min(outcome.at, claim.job.giveUpAt);
  return { claim, next: { runAt, reason: printable(outcome.reason) } };
}
