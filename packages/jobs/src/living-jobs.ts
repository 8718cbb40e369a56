import type { Database } from '@waxwing/storage';
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';
import type { JobDetails, JobFilter, JobState, JobSummary } from './job-listing.js';
import type { JobRow, JobTables } from './job-tables.js';

type LivingState = Exclude<JobState, 'dead'>;
type LivingRow = JobRow & { readonly state: LivingState };

/** Columns of a job summary. Excludes the payload, which may be large. */
const summaryColumns = [
  'id',
  'kind',
  'created_at',
  'run_at',
  'give_up_at',
  'attempt',
  'last_reason',
] as const;

/** Lists and changes the jobs that are not dead, for operators. */
export class LivingJobs {
  readonly #database: Database<JobTables>;
  readonly #now: () => number;

  constructor(database: Database<JobTables>, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** Counts the jobs of a kind by state. No count exceeds `limit`. */
  async tally(kind: string, limit: number): Promise<Record<LivingState, number>> {
    const now = this.#now();
    const count = (condition: ReturnType<typeof sql>) =>
      sql<number>`(select count(*) from (
        select 1 from jobs where kind = ${kind} and ${condition} limit ${sql.lit(limit)}) as counted)`;
    const { rows } = await sql<Record<LivingState, number>>`
      select ${count(sql`leased_until is null and run_at <= ${now}`)} as due,
        ${count(sql`leased_until is null and run_at > ${now}`)} as waiting,
        ${count(sql`leased_until is not null`)} as running`.execute(this.#database.db);
    return rows[0] ?? { due: 0, waiting: 0, running: 0 };
  }

  /**
   * Resolves to the due time of the job of this kind that has been due the longest, or `undefined` if no job is due.
   * Reads one index entry.
   */
  async oldestDueAt(kind: string): Promise<number | undefined> {
    const row = await this.#database.db
      .selectFrom('jobs')
      .select('run_at')
      .where('kind', '=', kind)
      .where('leased_until', 'is', null)
      .where('run_at', '<=', this.#now())
      .orderBy('run_at')
      .limit(1)
      .executeTakeFirst();
    return row?.run_at;
  }

  /** Lists jobs, oldest first. */
  async list({ state, kind, after, limit }: JobFilter & { readonly limit: number }): Promise<JobSummary[]> {
    let query = this.#database.db.selectFrom('jobs').select(summaryColumns).select(this.#state().as('state'));
    if (after?.state === 'dead') query = query.where('created_at', '>=', after.createdAt);
    else if (after !== undefined) {
      query = query.where(sql<boolean>`(created_at, id) > (${after.createdAt}, ${Number(after.id)})`);
    }
    if (kind !== undefined) query = query.where('kind', '=', kind);
    if (state !== undefined) query = query.where(this.#state(), '=', state as LivingState);
    const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute();
    return rows.map(toSummary);
  }

  async find(id: string): Promise<JobDetails | undefined> {
    if (!isId(id)) return undefined;
    const row = await this.#database.db
      .selectFrom('jobs')
      .selectAll()
      .select(this.#state().as('state'))
      .where('id', '=', Number(id))
      .executeTakeFirst();
    return row && toDetails(row);
  }

  /** Makes a waiting job due now. Resolves to its kind, or `undefined` if there is no such job or it is running. */
  async hasten(db: Transaction<JobTables>, id: string): Promise<string | undefined> {
    if (!isId(id)) return undefined;
    const row = await db
      .updateTable('jobs')
      .set({ run_at: this.#now() })
      .where((is) => waiting(is, id))
      .returning('kind')
      .executeTakeFirst();
    return row?.kind;
  }

  /** Deletes a waiting job. Resolves to false if there is no such job or it is running. */
  async remove(db: Transaction<JobTables>, id: string): Promise<boolean> {
    if (!isId(id)) return false;
    const row = await db
      .deleteFrom('jobs')
      .where((is) => waiting(is, id))
      .returning('id')
      .executeTakeFirst();
    return row !== undefined;
  }

  /**
   * Reschedules jobs of a kind that would start after `from` (Unix milliseconds): the first to `from`, the others at
   * intervals of `everyMilliseconds`. No job is delayed. Resolves to the number of jobs considered, at most `limit`.
   * `failedOnly` selects the jobs whose last attempt failed.
   */
  async bringForward(options: {
    readonly kind: string;
    readonly from: number;
    readonly everyMilliseconds: number;
    readonly limit: number;
    readonly failedOnly?: boolean;
  }): Promise<number> {
    const { kind, from, everyMilliseconds, limit, failedOnly = false } = options;
    const ofKind = this.#database.db
      .selectFrom('jobs')
      .select('id')
      .where('kind', '=', kind)
      .$if(failedOnly, (query) => query.where('last_reason', 'is not', null));
    const next = await ofKind
      .where('run_at', '>', from)
      .where('leased_until', 'is', null)
      .orderBy('run_at')
      .orderBy('id')
      .limit(limit)
      .execute();
    const moves = next.map(({ id }, index) => ({ id, runAt: from + index * everyMilliseconds }));
    // Code that locks several jobs always locks them in id order. A different order could deadlock.
    moves.sort((a, b) => a.id - b.id);
    await this.#database.write(async ({ db }) => {
      for (const { id, runAt } of moves) {
        const sooner = db.updateTable('jobs').set({ run_at: runAt }).where('id', '=', id);
        await sooner.where('run_at', '>', runAt).where('leased_until', 'is', null).execute();
      }
    });
    return next.length;
  }

  #state() {
    return sql<LivingState>`case when leased_until is not null then 'running'
      when run_at <= ${sql.lit(this.#now())} then 'due' else 'waiting' end`;
  }
}

function isId(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

function waiting(is: ExpressionBuilder<JobTables, 'jobs'>, id: string) {
  return is.and([is('id', '=', Number(id)), is('leased_until', 'is', null)]);
}

function toDetails(row: LivingRow): JobDetails {
  return { ...toSummary(row), payload: row.payload };
}

function toSummary(row: Pick<LivingRow, (typeof summaryColumns)[number] | 'state'>): JobSummary {
  return {
    id: String(row.id),
    kind: row.kind,
    state: row.state,
    attempts: row.attempt,
    createdAt: row.created_at,
    at: row.run_at,
    giveUpAt: row.give_up_at,
    reason: row.last_reason ?? undefined,
  };
}
