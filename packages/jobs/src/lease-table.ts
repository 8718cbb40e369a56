import { type AnyTransaction, type Database, fixedQuery, isPostgres, rowsAsTableOf } from '@waxwing/storage';
import { type Expression, type ExpressionBuilder, type SqlBool, sql, type Transaction } from 'kysely';
import { type JobRow, type JobTables, jobTables } from './job-tables.js';
import { type ClaimedJob, leaseMilliseconds, type Settlement, type StoredJob } from './lease.js';
import type { LeaseStatements } from './lease-statements.js';
import { postgresLeaseStatements } from './postgres-lease-statements.js';
import { sqliteLeaseStatements } from './sqlite-lease-statements.js';

export interface LeaseTableOptions {
  readonly database: Database<JobTables>;
  readonly now: () => number;
}

/** Maximum plausible lease. A lease that ends later comes from a process with a wrong clock, and counts as expired. */
const impossibleLeaseMilliseconds = 60 * 60_000;

/**
 * The jobs that are not dead, with their leases. A claim is identified by job id and attempt number. Each claim of a
 * job raises the attempt number, so a stale owner cannot settle the job.
 */
export class LeaseTable {
  readonly #options: LeaseTableOptions;
  readonly #statements: LeaseStatements;

  constructor(options: LeaseTableOptions) {
    this.#options = options;
    this.#statements = options.database.kind === 'sqlite' ? sqliteLeaseStatements : postgresLeaseStatements;
  }

  /** Makes the jobs of crashed processes claimable. Call it once, at start. */
  async start(): Promise<void> {
    // A SQLite file has one serving process, so every lease in it is stale at start.
    if (this.#options.database.kind !== 'sqlite') return await this.takeOver();
    await this.#options.database.write(({ db }) =>
      db.updateTable('jobs').set({ leased_until: null }).where('leased_until', 'is not', null).execute(),
    );
  }

  async add(transaction: AnyTransaction, jobs: readonly StoredJob[]): Promise<void> {
    await this.#statements.insert(jobTables(transaction), jobs);
  }

  /** Leases up to `limit` of the oldest due jobs of a kind to this process. Returns them sorted by due time. */
  async claim(kind: string, limit: number): Promise<ClaimedJob[]> {
    const now = this.#options.now();
    // If no job is due, the statement changes no row, so the commit needs no fsync.
    const rows = await this.#options.database.write(({ db }) =>
      this.#statements.claim(db, { kind, limit, now, leasedUntil: now + leaseMilliseconds }),
    );
    return [...rows].sort((a, b) => a.run_at - b.run_at || a.id - b.id).map(toClaim);
  }

  /** Settles claims. Resolves to the claims that this process still held. If a claim was lost, its job remains unchanged. */
  async settle(
    db: Transaction<JobTables>,
    settlements: readonly Settlement[],
  ): Promise<ReadonlySet<ClaimedJob>> {
    const settled = new Set((await this.#statements.settle(db, settlements)).map(claimName));
    const ours = settlements.filter(({ claim: { job } }) => settled.has(claimName(job)));
    return new Set(ours.map(({ claim }) => claim));
  }

  /** Extends the leases. */
  async renew(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, this.#options.now() + leaseMilliseconds);
  }

  /** Ends the leases, so that the jobs can be claimed immediately. */
  async release(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, null);
  }

  /** Makes jobs with an expired lease claimable. */
  async takeOver(): Promise<void> {
    const now = this.#options.now();
    await this.#setLeases(null, (is) =>
      is.or([is('leased_until', '<=', now), is('leased_until', '>', now + impossibleLeaseMilliseconds)]),
    );
  }

  /** Resolves to the earliest due time after `since` among the jobs of these kinds, or `undefined` if no job is waiting. */
  async nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    if (kinds.length === 0) return undefined;
    const kindRows = JSON.stringify(kinds.map((kind) => ({ kind })));
    const [next] = await nextRun(this.#options.database.db, { kinds: kindRows, since });
    return next?.run_at ?? undefined;
  }

  /**
   * Changes existing leases of these claims. Never adds a lease: a job that was put back keeps its attempt number until
   * the next claim, so a match by attempt number alone would lease it again.
   */
  async #setLease(claims: readonly ClaimedJob[], until: number | null): Promise<void> {
    await this.#setLeases(until, (is) => is.and([claimedAs(is, claims), is('leased_until', 'is not', null)]));
  }

  /**
   * Changes the leases that match `condition`, in its own transaction. Skips locked jobs, which are being settled:
   * waiting for one locked job while holding locks on others could deadlock with a transaction that settles several.
   */
  async #setLeases(until: number | null, condition: Condition): Promise<void> {
    await this.#options.database.writeStatement(async (db) => {
      const matching = db.selectFrom('jobs').select('id').where(condition);
      const free = isPostgres(db) ? matching.forUpdate().skipLocked() : matching;
      await db.updateTable('jobs').set({ leased_until: until }).where('id', 'in', free).execute();
    });
  }
}

type Condition = (is: ExpressionBuilder<JobTables, 'jobs'>) => Expression<SqlBool>;

interface NextRunParameters {
  /** JSON array of objects with the field `kind`. */
  readonly kinds: string;
  readonly since: number;
}

const nextRun = fixedQuery<JobTables, NextRunParameters, { run_at: number | null }>((db, parameter) => ({
  compile: () =>
    sql<{ run_at: number | null }>`
      select min(run_at) as run_at from (
        select (
          select run_at from jobs
          where jobs.kind = asked.kind and run_at > ${parameter('since')} and leased_until is null
          order by run_at limit 1) as run_at
        from ${rowsAsTableOf(db, 'asked', { kind: 'text' }, parameter('kinds'))}) as next`.compile(db),
}));

/**
 * Identifies a claim. The job id alone is not enough, because a job may be claimed again before the previous claim is
 * settled.
 */
function claimName({ id, attempt }: { readonly id: string | number; readonly attempt: number }): string {
  return `${id}/${attempt}`;
}

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
  return { job, runAt: row.run_at, lastReason: row.last_reason ?? undefined };
}
