import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely';
import type pg from 'pg';
import type { PgBoss } from 'pg-boss';
import {
  type ClaimedJob,
  type JobEngine,
  type LivingState,
  leaseMilliseconds,
  type Settlement,
  type StoredJob,
  type TallyOptions,
} from '../jobs/job-engine.js';
import type { JobDetails, JobFilter } from '../jobs/job-listing.js';
import type { AnyTransaction } from '../transaction.js';
import { jobSchema } from './pg-boss-schema.js';
import { translatePostgresError } from './postgres-errors.js';

/** What pg-boss keeps for us of each job. Payloads are text, so that nothing about them is changed. */
interface JobData {
  readonly payload: string;
  readonly createdAt: number;
  readonly giveUpAt: number;
  /** Attempts before the job was last put back; pg-boss counts those since then. */
  readonly attempts: number;
  readonly reason: string | undefined;
}

interface JobRow {
  readonly id: string;
  readonly name: string;
  readonly data: JobData;
  readonly state: LivingState;
  readonly started: number;
  readonly run_at: number;
}

interface SqlExecutor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: never[] }>;
}

const queueOptions = {
  // How often a job is tried and until when is decided here, so pg-boss must neither give up nor delete.
  retryLimit: 2_147_483_647,
  expireInSeconds: 24 * 60 * 60 - 1,
  retentionSeconds: 2_147_483_647,
};
const exportPage = 1000;
const impossibleLeaseMilliseconds = 60 * 60_000;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * pg-boss keeps and hands out the jobs. What its own workers cannot do is done around it: retries at an instant, giving
 * up at an instant, outcomes in the caller's transaction, and leases that end with this package's clock.
 */
export class PgBossJobEngine implements JobEngine {
  readonly #boss: PgBoss;
  readonly #pool: pg.Pool;
  readonly #db: Kysely<unknown>;
  readonly #now: () => number;
  readonly #queues = new Map<string, Promise<void>>();

  constructor(boss: PgBoss, pool: pg.Pool, db: Kysely<unknown>, now: () => number) {
    this.#boss = boss;
    this.#pool = pool;
    this.#db = db;
    this.#now = now;
  }

  async prepare(kinds: readonly string[]): Promise<void> {
    for (const kind of kinds) await this.#ensureQueue(kind);
  }

  async start(): Promise<void> {
    await this.takeOver();
  }

  async close(): Promise<void> {
    await this.#boss.stop({ graceful: false, close: false });
  }

  async add(transaction: AnyTransaction, jobs: readonly StoredJob[]): Promise<void> {
    for (const [kind, ofKind] of groupByKind(jobs, (job) => job.kind)) {
      await this.#ensureQueue(kind);
      await this.#boss.insert(kind, ofKind.map(toInsert), { db: this.#within(transaction) });
    }
  }

  async claim(kind: string, limit: number): Promise<ClaimedJob[]> {
    const jobs = await this.#boss.fetch<JobData>(kind, { batchSize: limit, db: this.#pooled() });
    return jobs.map(({ id, data, retryCount }) => ({
      job: {
        id,
        kind,
        payload: data.payload,
        attempt: data.attempts + retryCount + 1,
        createdAt: data.createdAt,
        giveUpAt: data.giveUpAt,
      },
      lastReason: data.reason,
      fence: retryCount,
    }));
  }

  async settle(
    transaction: AnyTransaction,
    settlements: readonly Settlement[],
  ): Promise<ReadonlySet<string>> {
    // pg-boss can delete fenced too, but answers only how many, and only of one queue at a time.
    const { rows } = await sql<{ id: string }>`
      delete from ${jobTable} where ${ownedBy(settlements.map(({ claim }) => claim))}
      returning id`.execute(transaction.db as Kysely<unknown>);
    const settled = new Set(rows.map(({ id }) => id));
    const again = settlements.filter(({ claim, next }) => next !== undefined && settled.has(claim.job.id));
    for (const [kind, ofKind] of groupByKind(again, ({ claim }) => claim.job.kind)) {
      await this.#boss.insert(kind, ofKind.flatMap(toRetry), { db: this.#within(transaction) });
    }
    return settled;
  }

  async renew(claims: readonly ClaimedJob[]): Promise<void> {
    for (const [kind, ofKind] of groupByKind(claims, ({ job }) => job.kind)) {
      await this.#boss.touch(kind, ofKind.map(toAttempt), { db: this.#pooled() });
    }
  }

  async release(claims: readonly ClaimedJob[]): Promise<void> {
    await sql`update ${jobTable} set state = 'retry' where ${ownedBy(claims)}`.execute(this.#db);
  }

  async takeOver(): Promise<void> {
    const now = this.#now();
    const ended = instant(now - leaseMilliseconds);
    // Left by a process whose clock was far ahead: waiting for that instant may take for ever.
    const impossible = instant(now + impossibleLeaseMilliseconds);
    await sql`
      update ${jobTable} set state = 'retry' where state = 'active'
        and (heartbeat_on < ${ended}::timestamptz or heartbeat_on > ${impossible}::timestamptz)`.execute(
      this.#db,
    );
  }

  async nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined> {
    const { rows } = await sql<{ run_at: number | null }>`
      select min(next.run_at) as run_at from unnest(${kinds}::text[]) as kind, lateral (
        select ${runAt} as run_at from ${jobTable}
        where name = kind and state < 'active' and not blocked and start_after > ${instant(since)}::timestamptz
        order by start_after limit 1
      ) as next`.execute(this.#db);
    return rows[0]?.run_at ?? undefined;
  }

  async countLiving(): Promise<{ kind: string; state: LivingState; count: number }[]> {
    const { rows } = await sql<{ kind: string; state: LivingState; count: number }>`
      select name as kind, ${this.#state()} as state, count(*) as count from ${jobTable}
      where state <= 'active' group by 1, 2`.execute(this.#db);
    return rows;
  }

  async tallyLiving(kind: string, { limit }: TallyOptions): Promise<Record<LivingState, number>> {
    const now = sql`${instant(this.#now())}::timestamptz`;
    const count = (condition: RawBuilder<unknown>) =>
      sql<number>`(select count(*) from (select 1 from ${jobTable} where name = ${kind} and ${condition} limit ${limit}) as counted)`;
    const { rows } = await sql<Record<LivingState, number>>`
      select ${count(sql`state < 'active' and not blocked and start_after <= ${now}`)} as due,
        ${count(sql`state < 'active' and not blocked and start_after > ${now}`)} as waiting,
        ${count(sql`state = 'active'`)} as running`.execute(this.#db);
    return rows[0] ?? { due: 0, waiting: 0, running: 0 };
  }

  async listLiving({ state, kind, limit }: JobFilter & { readonly limit: number }): Promise<JobDetails[]> {
    const { rows } = await sql<JobRow>`
      select * from (${this.#rows()}) as jobs
      where (${kind ?? null}::text is null or name = ${kind ?? null})
        and (${state ?? null}::text is null or state = ${state ?? null})
      order by (data ->> 'createdAt')::bigint, id limit ${limit}`.execute(this.#db);
    return rows.map(toDetails);
  }

  async find(id: string): Promise<JobDetails | undefined> {
    if (!uuid.test(id)) return undefined;
    const { rows } = await sql<JobRow>`
      select * from (${this.#rows()}) as jobs where id = ${id}::uuid`.execute(this.#db);
    return rows[0] && toDetails(rows[0]);
  }

  async hasten(id: string): Promise<boolean> {
    const result = await sql`
      update ${jobTable} set start_after = ${instant(this.#now())}::timestamptz
      where id = ${id}::uuid and state < 'active'`.execute(this.#db);
    return (result.numAffectedRows ?? 0n) > 0n;
  }

  async waitingSince(kind: string, since: number, limit: number): Promise<string[]> {
    const { rows } = await sql<{ id: string }>`
      select id from ${jobTable}
      where name = ${kind} and state < 'active' and not blocked and start_after > ${instant(since)}::timestamptz
      order by start_after limit ${limit}`.execute(this.#db);
    return rows.map(({ id }) => id);
  }

  async bringForward(kind: string, jobs: readonly { id: string; runAt: number }[]): Promise<void> {
    const ids = jobs.map(({ id }) => id);
    const instants = jobs.map(({ runAt }) => instant(runAt));
    await sql`
      update ${jobTable} as job set start_after = sooner.at
      from unnest(${ids}::uuid[], ${instants}::timestamptz[]) as sooner(id, at)
      where job.name = ${kind} and job.id = sooner.id and job.state < 'active'
        and job.start_after > sooner.at`.execute(this.#db);
  }

  async remove(id: string): Promise<boolean> {
    const result = await sql`
      delete from ${jobTable} where id = ${id}::uuid and state < 'active'`.execute(this.#db);
    return (result.numAffectedRows ?? 0n) > 0n;
  }

  /** Ids are random. */
  async avoidIdsOfDeadJobs(): Promise<void> {}

  async *exportAll(db: object): AsyncIterable<readonly StoredJob[]> {
    for (let after = '00000000-0000-0000-0000-000000000000'; ; ) {
      const { rows } = await sql<JobRow>`
        select * from (${this.#rows()}) as jobs where id > ${after}::uuid
        order by id limit ${sql.lit(exportPage)}`.execute(db as Kysely<unknown>);
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
      yield rows.map(({ name, data, started, run_at }) => ({
        kind: name,
        payload: data.payload,
        createdAt: data.createdAt,
        runAt: run_at,
        giveUpAt: data.giveUpAt,
        attempts: data.attempts + started,
        reason: data.reason,
      }));
    }
  }

  async #ensureQueue(kind: string): Promise<void> {
    let made = this.#queues.get(kind);
    if (made === undefined) {
      made = this.#boss.createQueue(kind, queueOptions).catch((error: unknown) => {
        this.#queues.delete(kind);
        throw translatePostgresError(error);
      });
      this.#queues.set(kind, made);
    }
    await made;
  }

  #rows() {
    return sql`select id, name, data, ${this.#state()} as state, ${runAt} as run_at,
      (retry_count + case when started_on is null then 0 else 1 end)::int as started
      from ${jobTable} where state <= 'active'`;
  }

  #state() {
    return sql<LivingState>`case when state = 'active' then 'running'
      when start_after <= ${sql.lit(instant(this.#now()))}::timestamptz then 'due' else 'waiting' end`;
  }

  #within({ db }: AnyTransaction): SqlExecutor {
    return {
      executeSql: async (text, values = []) => {
        const query = CompiledQuery.raw(this.#withClock(text), values);
        return { rows: (await (db as Kysely<unknown>).executeQuery<never>(query)).rows };
      },
    };
  }

  #pooled(): SqlExecutor {
    return {
      executeSql: async (text, values) => {
        try {
          return await this.#pool.query<never>(this.#withClock(text), values);
        } catch (error) {
          throw translatePostgresError(error);
        }
      },
    };
  }

  /** pg-boss reads the time in one place, a function in its schema; ours is the clock that was passed in. */
  #withClock(text: string): string {
    return text.replaceAll(`${jobSchema}.job_now()`, `'${instant(this.#now())}'::timestamptz`);
  }
}

const jobTable = sql.table(`${jobSchema}.job_common`);
const runAt = sql<number>`(extract(epoch from start_after) * 1000)::bigint`;

function instant(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Those jobs that nobody has claimed since. */
function ownedBy(claims: readonly ClaimedJob[]) {
  const ids = claims.map(({ job }) => job.id);
  const fences = claims.map(({ job, fence }) => `${job.id}:${fence}`);
  return sql<boolean>`state = 'active' and id = any(${ids}::uuid[]) and id::text || ':' || retry_count = any(${fences})`;
}

function groupByKind<Item>(items: readonly Item[], kindOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const kind = kindOf(item);
    const group = groups.get(kind);
    if (group === undefined) groups.set(kind, [item]);
    else group.push(item);
  }
  return groups;
}

function toAttempt({ job, fence }: ClaimedJob): { id: string; retryCount: number } {
  return { id: job.id, retryCount: fence };
}

function toInsert({ runAt, payload, createdAt, giveUpAt, attempts, reason }: StoredJob) {
  const data: JobData = { payload, createdAt, giveUpAt, attempts, reason };
  return { data, startAfter: instant(runAt) };
}

function toRetry({ claim: { job }, next }: Settlement) {
  if (next === undefined) return [];
  const { payload, createdAt, giveUpAt, attempt: attempts } = job;
  const data: JobData = { payload, createdAt, giveUpAt, attempts, reason: next.reason };
  return [{ id: job.id, data, startAfter: instant(next.runAt) }];
}

function toDetails({ id, name, data, state, started, run_at }: JobRow): JobDetails {
  return {
    id,
    kind: name,
    state,
    attempts: data.attempts + started,
    createdAt: data.createdAt,
    at: run_at,
    giveUpAt: data.giveUpAt,
    reason: data.reason,
    payload: data.payload,
  };
}
