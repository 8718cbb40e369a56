import { type Database, removeInBatches } from '@waxwing/storage';
import { sql, type Transaction } from 'kysely';
import type { JobDetails, JobFilter, JobSummary } from './job-listing.js';
import type { Job } from './job-queue.js';
import type { JobTables } from './job-tables.js';

/** Dead letters are deleted after 14 days. */
const deadJobRetentionMilliseconds = 14 * 24 * 60 * 60_000;

/** Columns of a job summary. Excludes the payload, which may be large. */
const summaryColumns = ['id', 'kind', 'created_at', 'give_up_at', 'attempts', 'reason', 'died_at'] as const;

/** The dead letters: jobs that were given up, with the reason for each. */
export class DeadJobs {
  readonly #database: Database<JobTables>;
  readonly #now: () => number;

  constructor(database: Database<JobTables>, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  async add(
    db: Transaction<JobTables>,
    dead: readonly { readonly job: Job; readonly reason: string }[],
  ): Promise<void> {
    if (dead.length === 0) return;
    const rows = dead.map(({ job, reason }) => ({
      id: job.id,
      kind: job.kind,
      payload: job.payload,
      created_at: job.createdAt,
      give_up_at: job.giveUpAt,
      attempts: job.attempt,
      reason,
      died_at: this.#now(),
    }));
    await db.insertInto('dead_jobs').values(rows).execute();
  }

  /** Counts the dead letters of each kind. No count exceeds `limit`. */
  async tally(limit: number): Promise<{ kind: string; count: number }[]> {
    // Skip scan: jumps from kind to kind through the index, and stops counting at the limit.
    const { rows } = await sql<{ kind: string; count: number }>`
      with recursive kinds (kind) as (
        select min(kind) from dead_jobs
        union all
        select (select min(dead_jobs.kind) from dead_jobs where dead_jobs.kind > kinds.kind)
        from kinds where kinds.kind is not null
      )
      select kinds.kind, (
        select count(*) from (select 1 from dead_jobs where dead_jobs.kind = kinds.kind limit ${sql.lit(limit)}) as counted
      ) as count
      from kinds where kinds.kind is not null`.execute(this.#database.db);
    return rows;
  }

  /** Lists dead letters, oldest first. */
  async list({ kind, after, limit }: JobFilter & { readonly limit: number }): Promise<JobSummary[]> {
    let query = this.#database.db.selectFrom('dead_jobs').select(summaryColumns);
    if (kind !== undefined) query = query.where('kind', '=', kind);
    if (after?.state === 'dead') {
      query = query.where(sql<boolean>`(created_at, id) > (${after.createdAt}, ${after.id})`);
    } else if (after !== undefined) {
      query = query.where('created_at', '>', after.createdAt);
    }
    const rows = await query.orderBy('created_at').orderBy('id').limit(limit).execute();
    return rows.map(toSummary);
  }

  async find(id: string): Promise<JobDetails | undefined> {
    const row = await this.#database.db
      .selectFrom('dead_jobs')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst();
    return row && toDetails(row);
  }

  /**
   * Removes a dead letter in the caller's transaction, and returns it. Resolves to `undefined` if there is no such dead
   * letter.
   */
  async take(db: Transaction<JobTables>, id: string): Promise<JobDetails | undefined> {
    const row = await db.deleteFrom('dead_jobs').where('id', '=', id).returningAll().executeTakeFirst();
    return row && toDetails(row);
  }

  /**
   * Deletes dead letters past their retention, in small batches, so that other writes do not wait for long. Resolves to
   * the number of deleted dead letters.
   */
  async removeOld(signal: AbortSignal): Promise<number> {
    const before = this.#now() - deadJobRetentionMilliseconds;
    const removeSome = async (limit: number): Promise<number> => {
      const rows = await this.#database.write(({ db }) =>
        db
          .deleteFrom('dead_jobs')
          .where(
            'id',
            'in',
            sql<string>`(select id from dead_jobs where died_at < ${before} order by died_at limit ${sql.lit(limit)})`,
          )
          .returning('id')
          .execute(),
      );
      return rows.length;
    };
    return await removeInBatches(removeSome, signal);
  }
}

function toDetails(row: JobTables['dead_jobs']): JobDetails {
  return { ...toSummary(row), payload: row.payload };
}

function toSummary(row: Pick<JobTables['dead_jobs'], (typeof summaryColumns)[number]>): JobSummary {
  return {
    id: row.id,
    kind: row.kind,
    state: 'dead',
    attempts: row.attempts,
    createdAt: row.created_at,
    at: row.died_at,
    giveUpAt: row.give_up_at,
    reason: row.reason,
  };
}
