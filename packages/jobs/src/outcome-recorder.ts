import { atEndOfTick } from '@waxwing/service/lifecycle';
import type { Database, WriteTransaction } from '@waxwing/storage';
import type { DeadJobs } from './dead-jobs.js';
import type { JobOutcome } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob, Settlement } from './lease.js';
import type { LeaseTable } from './lease-table.js';
import { printable } from './unstorable-characters.js';

interface Ended {
  readonly claim: ClaimedJob;
  readonly outcome: JobOutcome<JobTables>;
  resolve(): void;
  reject(reason: unknown): void;
}

const maximumOutcomesPerWrite = 256;

/**
 * Batches the outcomes of one event-loop tick into transactions of up to 256. If one fails, each of its outcomes is recorded
 * alone, so that one failing `apply` does not affect the others.
 */
export class OutcomeRecorder {
  readonly #leases: LeaseTable;
  readonly #database: Database<JobTables>;
  readonly #dead: DeadJobs;
  #ended: Ended[] = [];

  constructor(leases: LeaseTable, database: Database<JobTables>, dead: DeadJobs) {
    this.#leases = leases;
    this.#database = database;
    this.#dead = dead;
  }

  /**
   * Resolves once the outcome and its `apply` are committed, or if the claim is stale, in which case nothing changes.
   * Rejects with the error of `apply`.
   */
  record(claim: ClaimedJob, outcome: JobOutcome<JobTables>): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#ended.length === 0) atEndOfTick(() => void this.#recordAll());
      this.#ended.push({ claim, outcome, resolve, reject });
    });
  }

  async #recordAll(): Promise<void> {
    const all = this.#ended;
    this.#ended = [];
    const groups: Promise<void>[] = [];
    for (let start = 0; start < all.length; start += maximumOutcomesPerWrite) {
      groups.push(this.#recordGroup(all.slice(start, start + maximumOutcomesPerWrite)));
    }
    await Promise.all(groups);
  }

  async #recordGroup(group: readonly Ended[]): Promise<void> {
    try {
      await this.#database.write((transaction) => this.#write(transaction, group));
      for (const { resolve } of group) resolve();
    } catch (error) {
      const [only] = group;
      if (group.length === 1 && only !== undefined) return only.reject(error);
      await Promise.all(group.map((each) => this.#recordGroup([each])));
    }
  }

  async #write(transaction: WriteTransaction<JobTables>, group: readonly Ended[]): Promise<void> {
    const { db } = transaction;
    const ours = await this.#leases.settle(db, group.map(toSettlement));
    const settled = group.filter(({ claim }) => ours.has(claim.job.id));
    await this.#dead.add(
      db,
      settled.flatMap(({ claim, outcome }) =>
        outcome.kind === 'dead' ? [{ job: claim.job, reason: printable(outcome.reason) }] : [],
      ),
    );
    for (const { outcome } of settled) await outcome.apply?.(transaction);
  }
}

function toSettlement({ claim, outcome }: Ended): Settlement {
  if (outcome.kind !== 'retry') return { claim, next: undefined };
  const runAt = Math.min(outcome.at, claim.job.giveUpAt);
  return { claim, next: { runAt, reason: printable(outcome.reason) } };
}
