import {
  CompiledQuery,
  type ExpressionBuilder,
  type Kysely,
  type RawBuilder,
  type SelectType,
  sql,
} from 'kysely';
import { BulkStatement } from '../bulk-statement.js';
import type { GroupCommit } from '../group-commit.js';
import type { AnyTransaction } from '../transaction.js';
import {
  type ClaimedJob,
  type JobEngine,
  type LivingState,
  leaseMilliseconds,
  type Settlement,
  type StoredJob,
  type TallyOptions,
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
    const rows = jobs.map(({ kind, payload, createdAt, runAt, giveUpAt, attempts, reason }) => [
      kind,
      payload,
      createdAt,
      runAt,
      giveUpAt,
      attempts,
      reason ?? null,
    ]);
    await insertJobs.run(jobTables(transaction), rows);
  }

  async claim(kind: string, limit: number): Promise<ClaimedJob[]> {
    const now = this.#now();
    const parameters = [now + leaseMilliseconds, kind, now, now, limit];
    // Where nothing is due nothing is written, and the disk has nothing to sync.
    const rows = await this.#commits.run(
      async ({ db }) => (await db.executeQuery<JobRow>(CompiledQuery.raw(claimJobs, parameters))).rows,
    );
    return rows.sort((a, b) => a.run_at - b.run_at || a.id - b.id).map(toClaim);
  }

  async settle(
    transaction: AnyTransaction,
    settlements: readonly Settlement[],
  ): Promise<ReadonlySet<string>> {
    const db = jobTables(transaction);
    const gone = settlements.filter(({ next }) => next === undefined);
    const waiting = settlements.filter(({ next }) => next !== undefined);
    const settled = [
      ...(await deleteJobs.run(
        db,
        gone.map(({ claim }) => [Number(claim.job.id), claim.fence]),
      )),
      ...(await putBackJobs.run(
        db,
        waiting.map(({ claim, next }) => [Number(claim.job.id), claim.fence, next?.runAt, next?.reason]),
      )),
    ];
    return new Set(settled.map(({ id }) => String(id)));
  }

  async renew(claims: readonly ClaimedJob[]): Promise<void> {
    const until = this.#now() + leaseMilliseconds;
    // What was put back since is owned by nobody, though its fence is the same until somebody claims it.
    await this.#commits.run(({ db }) =>
      db
        .updateTable('jobs')
        .set({ leased_until: until })
        .where(ownedBy(claims))
        .where('leased_until', 'is not', null)
        .execute(),
    );
  }

  async release(claims: readonly ClaimedJob[]): Promise<void> {
    await this.#commits.run(({ db }) =>
      db.updateTable('jobs').set({ leased_until: null }).where(ownedBy(claims)).execute(),
    );
  }

  async takeOver(): Promise<void> {}

  async nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    let next: number | undefined;
    for (const kind of kinds) {
      const row = await this.#db
        .selectFrom('jobs')
        .select('run_at')
        .where('kind', '=', kind)
        .where('run_at', '>', since)
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

  /** From the index alone, which knows nothing of leases: only this process has any. */
  async tallyLiving(
    kind: string,
    { limit, runningHere: running }: TallyOptions,
  ): Promise<Record<LivingState, number>> {
    const now = this.#now();
    const count = async (condition: RawBuilder<unknown>): Promise<number> => {
      const { rows } = await sql<{ count: number }>`
        select count(*) as count from (select 1 from jobs where kind = ${kind} and ${condition} limit ${limit})`.execute(
        this.#db,
      );
      return rows[0]?.count ?? 0;
    };
    const started = await count(sql`run_at <= ${now}`);
    return { due: Math.max(0, started - running), waiting: await count(sql`run_at > ${now}`), running };
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

  async waitingSince(kind: string, since: number, limit: number): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('jobs')
      .select('id')
      .where('kind', '=', kind)
      .where('run_at', '>', since)
      .where('leased_until', 'is', null)
      .orderBy('run_at')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map(({ id }) => String(id));
  }

  async bringForward(kind: string, jobs: readonly { id: string; runAt: number }[]): Promise<void> {
    await this.#commits.run(async ({ db }) => {
      for (const { id, runAt } of jobs) {
        await db
          .updateTable('jobs')
          .set({ run_at: runAt })
          .where('id', '=', Number(id))
          .where('kind', '=', kind)
          .where('run_at', '>', runAt)
          .where('leased_until', 'is', null)
          .execute();
      }
    });
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

  #state() {
    const now = this.#now();
    return sql<LivingState>`case when leased_until > ${now} then 'running' when run_at <= ${now} then 'due' else 'waiting' end`;
  }
}

const insertJobs = new BulkStatement(
  (rows) => `insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, last_reason)
    values ${list('(?, ?, ?, ?, ?, ?, ?)', rows)}`,
);

const claimJobs = `update jobs set leased_until = ?, attempt = attempt + 1
  where id in (
    select id from jobs where kind = ? and run_at <= ? and (leased_until is null or leased_until <= ?)
    order by run_at, id limit ?)
  returning *`;

/** Those jobs that nobody has claimed since, named by id and fence. */
const deleteJobs = new BulkStatement<{ readonly id: number }>(
  (rows) => `delete from jobs where (id, attempt) in (values ${list('(?, ?)', rows)}) returning id`,
);

const putBackJobs = new BulkStatement<{ readonly id: number }>(
  (rows) => `with settled (id, fence, run_at, reason) as (values ${list('(?, ?, ?, ?)', rows)})
    update jobs set run_at = settled.run_at, leased_until = null, last_reason = settled.reason
    from settled where jobs.id = settled.id and jobs.attempt = settled.fence
    returning jobs.id`,
);

function list(row: string, rows: number): string {
  return Array.from({ length: rows }, () => row).join(', ');
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
