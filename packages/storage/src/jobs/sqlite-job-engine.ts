import { type ExpressionBuilder, type Kysely, type SelectType, sql } from 'kysely';
import type { GroupCommit } from '../group-commit.js';
import type { AnyTransaction } from '../transaction.js';
import {
  type ClaimedJob,
  type JobEngine,
  type LivingState,
  leaseMilliseconds,
  type Settlement,
  type StoredJob,
} from './job-engine.js';
import type { JobDetails, JobFilter } from './job-listing.js';
import { type JobTables, jobTables } from './job-tables.js';

type JobRow = { [Column in keyof JobTables['jobs']]: SelectType<JobTables['jobs'][Column]> };

const exportPage = 1000;

/** The lease table. One serving process at a time works from it, which the file's serving lock guarantees. */
export class SqliteJobEngine implements JobEngine {
  readonly #db: Kysely<JobTables>;
  readonly #commits: GroupCommit<JobTables>;
  readonly #now: () => number;

  constructor(db: Kysely<JobTables>, commits: GroupCommit<JobTables>, now: () => number) {
    this.#db = db;
    this.#commits = commits;
    this.#now = now;
  }

  async prepare(): Promise<void> {}

  async close(): Promise<void> {}

  /** Nobody else works from this file, so whatever is leased was left behind by a process that died. */
  async start(): Promise<void> {
    await this.#commits.run(({ db }) =>
      db.updateTable('jobs').set({ leased_until: null }).where('leased_until', 'is not', null).execute(),
    );
  }

  async add(transaction: AnyTransaction, jobs: readonly StoredJob[]): Promise<void> {
    // One text for any number of rows: preparing a statement for each number would cost more than the insert.
    await sql`
      insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, last_reason)
      select value ->> 'kind', value ->> 'payload', value ->> 'createdAt', value ->> 'runAt', value ->> 'giveUpAt',
        value ->> 'attempts', value ->> 'reason'
      from json_each(${JSON.stringify(jobs)})`.execute(jobTables(transaction));
  }

  async claim(kind: string, limit: number): Promise<ClaimedJob[]> {
    const now = this.#now();
    // A claim writes, and each write costs a sync of the disk: look first whether there is anything to claim.
    const found = await this.#db
      .selectFrom('jobs')
      .select('id')
      .where('kind', '=', kind)
      .where('run_at', '<=', now)
      .where((is) => unleased(is, now))
      .orderBy('run_at')
      .orderBy('id')
      .limit(limit)
      .execute();
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    const rows = await this.#commits.run(({ db }) =>
      db
        .updateTable('jobs')
        .set({ leased_until: now + leaseMilliseconds, attempt: sql`attempt + 1` })
        .where('id', 'in', sql<number>`(select value from json_each(${JSON.stringify(ids)}))`)
        .where((is) => unleased(is, now))
        .returningAll()
        .execute(),
    );
    return rows.sort((a, b) => a.run_at - b.run_at || a.id - b.id).map(toClaim);
  }

  async settle(
    transaction: AnyTransaction,
    settlements: readonly Settlement[],
  ): Promise<ReadonlySet<string>> {
    const db = jobTables(transaction);
    const settled = new Set<string>();
    const gone = settlements.filter(({ next }) => next === undefined);
    if (gone.length > 0) {
      const rows = await db
        .deleteFrom('jobs')
        .where(ownedBy(gone.map(({ claim }) => claim)))
        .returning('id')
        .execute();
      for (const { id } of rows) settled.add(String(id));
    }
    for (const { claim, next } of settlements) {
      if (next === undefined) continue;
      const rows = await db
        .updateTable('jobs')
        .set({ run_at: next.runAt, leased_until: null, last_reason: next.reason })
        .where('id', '=', Number(claim.job.id))
        .where('attempt', '=', claim.fence)
        .returning('id')
        .execute();
      for (const { id } of rows) settled.add(String(id));
    }
    return settled;
  }

  async renew(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, this.#now() + leaseMilliseconds);
  }

  async release(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#setLease(claims, null);
  }

  async takeOver(): Promise<void> {}

  async nextRunAt(kinds: readonly string[]): Promise<number | undefined> {
    let next: number | undefined;
    for (const kind of kinds) {
      const row = await this.#db
        .selectFrom('jobs')
        .select('run_at')
        .where('kind', '=', kind)
        .where('leased_until', 'is', null)
        .orderBy('run_at')
        .limit(1)
        .executeTakeFirst();
      if (row !== undefined && (next === undefined || row.run_at < next)) next = row.run_at;
    }
    return next;
  }

  async countLiving(): Promise<{ kind: string; state: LivingState; count: number }[]> {
    return await this.#db
      .selectFrom('jobs')
      .select(['kind', this.#state().as('state'), (is) => is.fn.countAll<number>().as('count')])
      .groupBy(['kind', 'state'])
      .execute();
  }

  async listLiving({ state, kind, limit }: JobFilter & { readonly limit: number }): Promise<JobDetails[]> {
    let query = this.#db.selectFrom('jobs').selectAll().select(this.#state().as('state'));
    if (kind !== undefined) query = query.where('kind', '=', kind);
    if (state !== undefined) query = query.where(this.#state(), '=', state as LivingState);
    const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute();
    return rows.map(toDetails);
  }

  async find(id: string): Promise<JobDetails | undefined> {
    if (!/^\d{1,15}$/.test(id)) return undefined;
    const row = await this.#db
      .selectFrom('jobs')
      .selectAll()
      .select(this.#state().as('state'))
      .where('id', '=', Number(id))
      .executeTakeFirst();
    return row && toDetails(row);
  }

  async hasten(id: string): Promise<boolean> {
    const now = this.#now();
    const rows = await this.#commits.run(({ db }) =>
      db
        .updateTable('jobs')
        .set({ run_at: now })
        .where('id', '=', Number(id))
        .where((is) => unleased(is, now))
        .returning('id')
        .execute(),
    );
    return rows.length > 0;
  }

  async remove(id: string): Promise<boolean> {
    const now = this.#now();
    const rows = await this.#commits.run(({ db }) =>
      db
        .deleteFrom('jobs')
        .where('id', '=', Number(id))
        .where((is) => unleased(is, now))
        .returning('id')
        .execute(),
    );
    return rows.length > 0;
  }

  async avoidIdsOfDeadJobs(db: object): Promise<void> {
    const jobs = db as Kysely<JobTables>;
    await sql`delete from sqlite_sequence where name = 'jobs'`.execute(jobs);
    await sql`insert into sqlite_sequence (name, seq) select 'jobs', max(id) from (
      select 0 as id union all select max(id) from jobs
      union all select max(cast(id as integer)) from dead_jobs where id not glob '*[^0-9]*')`.execute(jobs);
  }

  async *exportAll(db: object): AsyncIterable<readonly StoredJob[]> {
    for (let after = 0; ; ) {
      const rows = await (db as Kysely<JobTables>)
        .selectFrom('jobs')
        .selectAll()
        .where('id', '>', after)
        .orderBy('id')
        .limit(exportPage)
        .execute();
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
      yield rows.map((row) => ({
        kind: row.kind,
        payload: row.payload,
        createdAt: row.created_at,
        runAt: row.run_at,
        giveUpAt: row.give_up_at,
        attempts: row.attempt,
        reason: row.last_reason ?? undefined,
      }));
    }
  }

  async #setLease(claims: readonly ClaimedJob[], until: number | null): Promise<void> {
    await this.#commits.run(({ db }) =>
      db.updateTable('jobs').set({ leased_until: until }).where(ownedBy(claims)).execute(),
    );
  }

  #state() {
    const now = this.#now();
    return sql<LivingState>`case when leased_until > ${now} then 'running' when run_at <= ${now} then 'due' else 'waiting' end`;
  }
}

type Is = ExpressionBuilder<JobTables, 'jobs'>;

function unleased(is: Is, now: number) {
  return is.or([is('leased_until', 'is', null), is('leased_until', '<=', now)]);
}

/** Those jobs that nobody has claimed since. */
function ownedBy(claims: readonly ClaimedJob[]) {
  const pairs = JSON.stringify(claims.map(({ job, fence }) => [Number(job.id), fence]));
  return sql<boolean>`id in (select value ->> 0 from json_each(${pairs}))
    and (id, attempt) in (select value ->> 0, value ->> 1 from json_each(${pairs}))`;
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
  return { job, lastReason: row.last_reason ?? undefined, fence: row.attempt };
}

function toDetails(row: JobRow & { readonly state: LivingState }): JobDetails {
  return {
    id: String(row.id),
    kind: row.kind,
    state: row.state,
    attempts: row.attempt,
    createdAt: row.created_at,
    at: row.run_at,
    giveUpAt: row.give_up_at,
    reason: row.last_reason ?? undefined,
    payload: row.payload,
  };
}
