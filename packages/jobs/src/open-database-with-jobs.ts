import { type Database, type OpenDatabaseOptions, openDatabase } from '@waxwing/storage';
import { DatabaseCheck } from './database-check.js';
import { DurableJobQueue } from './durable-job-queue.js';
import type { Job, JobQueue } from './job-queue.js';
import { type JobTables, jobMigrations } from './job-tables.js';

export interface DatabaseWithJobsOptions extends Omit<OpenDatabaseOptions, 'onError'> {
  readonly now: () => number;
  /**
   * Called when a job fails unexpectedly. A failure outside any job is reported with a placeholder job of kind `none`.
   * In both cases, the work is retried.
   */
  onJobError(error: unknown, job: Job): void;
  /** Called after a job was given up and became a dead letter with this reason. */
  onJobGivenUp?(job: Job, reason: string): void;
  /** Called after each successful query for due jobs, at least once per second. */
  onAnswer?(): void;
  /** Called with the number of dead letters deleted because their retention had ended. */
  onDeadJobsRemoved?(count: number): void;
}

/** An open, migrated database with its job queue. Closing the database releases running jobs to other processes. */
export interface DatabaseWithJobs<Tables> extends Database<Tables> {
  readonly jobs: JobQueue<Tables>;
  /**
   * Readiness check. Resolves to `undefined` if the database answers and accepts writes, otherwise to a sentence that
   * says what is wrong. Reads on every call, and writes at most every five seconds.
   */
  check(): Promise<string | undefined>;
}

const noJob: Job = { id: 'none', kind: 'none', payload: '', attempt: 0, createdAt: 0, giveUpAt: 0 };

/**
 * Opens the database and runs its migrations, including those of the job queue.
 * @throws DatabaseUnusableError whose message says what to do
 */
export function openDatabaseWithJobs<Tables>(
  options: DatabaseWithJobsOptions,
): Promise<DatabaseWithJobs<Tables>>;
// The implementation knows only the job tables. The caller's tables exist only in the overload's type.
export async function openDatabaseWithJobs(
  options: DatabaseWithJobsOptions,
): Promise<DatabaseWithJobs<JobTables>> {
  const { url, role, connections, remedyIfMissing, mayHoldOthers, now } = options;
  const onError = (error: unknown, job: Job = noJob): void => options.onJobError(error, job);
  const migrations = [jobMigrations, ...options.migrations];
  const database = await openDatabase<JobTables>({
    url,
    role,
    migrations,
    remedyIfMissing,
    mayHoldOthers,
    onError,
    ...(connections === undefined ? {} : { connections }),
  });
  const jobs = new DurableJobQueue({
    database,
    mayWork: role === 'serving',
    now,
    onError,
    onGivenUp: (job, reason) => options.onJobGivenUp?.(job, reason),
    onAnswer: () => options.onAnswer?.(),
    onDeadJobsRemoved: (count) => options.onDeadJobsRemoved?.(count),
  });
  const databaseCheck = new DatabaseCheck(database, now);
  return {
    ...database,
    jobs,
    check: () => databaseCheck.run(),
    async close() {
      await jobs.stop(0);
      await database.close();
    },
  };
}
