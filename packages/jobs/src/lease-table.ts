import { type AnyTransaction, type Database, fixedQuery, rowsAsTableOf } from '@waxwing/storage';
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';
import { type JobRow, type JobTables, jobTables } from './job-tables.js';
import { type ClaimedJob, leaseMilliseconds, type Settlement, type StoredJob } from './lease.js';
import type { LeaseStatements } from './lease-statements.js';
import { postgresLeaseStatements } from './postgres-lease-statements.js';
import { sqliteLeaseStatements } from './sqlite-lease-statements.js';

export interface LeaseTableOptions {
  readonly database: Database<JobTables>;
  readonly now: () => number;
}

/** A lease further ahead than this was given by a process whose clock was wrong: nobody waits for its end. */
const impossibleLeaseMilliseconds = 60 * 60_000;

/**
 * The living jobs, and which of them are leased by which process until when. A claim is named by the job's id and the
 * number of its attempt: whoever claims the job later has another number.
 */
export class LeaseTable {
  readonly #options: LeaseTableOptions;
  readonly #statements: LeaseStatements;

  constructor(options: LeaseTableOptions) {
    this.#options = options;
    this.#statements = options.database.kind === 'sqlite' ? sqliteLeaseStatements : postgresLeaseStatements;
  }

  /** Called once, when the process starts working: what a process left behind that died is claimable then. */
  async start(): Promise<void> {
    // A SQLite file has one serving process; what is leased in it was left behind.
    if (this.#options.database.kind !== 'sqlite') return await this.takeOver();
    await this.#options.database.write(({ db }) =>
      db.updateTable('jobs').set({ leased_until: null }).where('leased_until', 'is not', null).execute(),
    );
  }

  async add(transaction: AnyTransaction, jobs: readonly StoredJob[]): Promise<void> {
    await this.#statements.insert(jobTables(transaction), jobs);
  }

  /** The oldest due jobs that nobody has leased, now leased by this process. */
  async claim(kind: string, limit: number): Promise<ClaimedJob[]> {
    const now = this.#options.now();
    // Where nothing is due nothing is written, and the disk has nothing to sync.
    const rows = await this.#options.database.write(({ db }) =>
      this.#statements.claim(db, { kind, limit, now, leasedUntil: now + leaseMilliseconds }),
    );
    return [...rows].sort((a, b) => a.run_at - b.run_at || a.id - b.id).map(toClaim);
  }

  /** Answers the ids of the jobs that still were this process's; nothing is changed about the others. */
  async settle(db: Transaction<JobTables>, settlements: readonly Settlement[]): Promise<ReadonlySet<string>> {
    const settled = await this.#statements.settle(db, settlements);
    return new Set(settled.map(String));
  }

  /** Lengthens the leases. */
  async renew(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, this.#options.now() + leaseMilliseconds);
  }

  /** Ends the leases, so that the jobs can be claimed at once. */
  async release(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, null);
  }

  /** Makes the jobs claimable whose lease has ended. */
  async takeOver(): Promise<void> {
    const now = this.#options.now();
    await this.#options.database.write(({ db }) =>
      db
        .updateTable('jobs')
        .set({ leased_until: null })
        .where((is) =>
          is.or([is('leased_until', '<=', now), is('leased_until', '>', now + impossibleLeaseMilliseconds)]),
        )
        .execute(),
    );
  }

  /** When the next job of these kinds becomes due that was not due at `since`; `undefined` when none waits. */
  async nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    if (kinds.length === 0) return undefined;
    const asked = JSON.stringify(kinds.map((kind) => ({ kind })));
    const [next] = await nextRun(this.#options.database.db, { kinds: asked, since });
    return next?.run_at ?? undefined;
  }

  /** What was put back since is leased by nobody, though its attempt is the same until somebody claims it. */
  async #setLease(claims: readonly ClaimedJob[], until: number | null): Promise<void> {
    await this.#options.database.write(({ db }) =>
      db
        .updateTable('jobs')
        .set({ leased_until: until })
        .where((is) => claimedAs(is, claims))
        .where('leased_until', 'is not', null)
        .execute(),
    );
  }
}

interface AskedKinds {
  /** JSON array of rows. */
  readonly kinds: string;
  readonly since: number;
}

const nextRun = fixedQuery<JobTables, AskedKinds, { run_at: number | null }>((db, parameter) => ({
  compile: () =>
    sql<{ run_at: number | null }>`
      select min(run_at) as run_at from (
        select (
          select run_at from jobs
          where jobs.kind = asked.kind and run_at > ${parameter('since')} and leased_until is null
          order by run_at limit 1) as run_at
        from ${rowsAsTableOf(db, 'asked', { kind: 'text' }, parameter('kinds'))}) as next`.compile(db),
}));

function claimedAs(is: ExpressionBuilder<JobTables, 'jobs'>, claims: readonly ClaimedJob[]) {
  const names = claims.map(({ job }) => is.tuple(Number(job.id), job.attempt));
  return is(is.refTuple('id', 'attempt'), 'in', names);
}

function toClaim(row: JobRow): ClaimedJob {
  const job = {
    id: String(row.id),
    kind: row.kind,
    payload: row.payload,
    attempt: row.attempt,
    createdAt: row.created_at,
    giveUpAt: row.give_up_at,
  };
  return { job, lastReason: row.last_reason ?? undefined };
}
