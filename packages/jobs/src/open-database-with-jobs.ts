import { type Database, type OpenDatabaseOptions, openDatabase } from '@waxwing/storage';
import { DatabaseCheck } from './database-check.js';
import { DurableJobQueue } from './durable-job-queue.js';
import type { Job, JobQueue } from './job-queue.js';
import { type JobTables, jobMigrations } from './job-tables.js';

export interface DatabaseWithJobsOptions extends Omit<OpenDatabaseOptions, 'onError'> {
  readonly now: () => number;
  /**
   * Told of a job that failed unexpectedly, and of what went wrong in the background: then the job's kind is `none`.
   * The work goes on later in both cases.
   */
  onJobError(error: unknown, job: Job): void;
  /** Told whenever the database has answered which jobs are due; they are looked for each second at least. */
  onAnswer?(): void;
  /** Told how many dead letters were removed because they were old. */
  onDeadJobsRemoved?(count: number): void;
}

/** An open, migrated database and the queue of jobs that it keeps. Closing it hands back the jobs that still run. */
export interface DatabaseWithJobs<Tables> extends Database<Tables> {
  readonly jobs: JobQueue<Tables>;
  /**
   * `undefined` when the database answers and takes writes, of which it tries one every five seconds at most; otherwise a
   * sentence that says what is wrong. For readiness.
   */
  check(): Promise<string | undefined>;
}

const noJob: Job = { id: 'none', kind: 'none', payload: '', attempt: 0, createdAt: 0, giveUpAt: 0 };

/**
 * Opens the database and brings its tables up to date, those of the jobs among them.
 * @throws DatabaseUnusableError with a sentence that says what to do.
 */
export function openDatabaseWithJobs<Tables>(
  options: DatabaseWithJobsOptions,
): Promise<DatabaseWithJobs<Tables>>;
// Its own tables are among the migrations; those that the caller knows are nothing to it.
export async function openDatabaseWithJobs(
  options: DatabaseWithJobsOptions,
): Promise<DatabaseWithJobs<JobTables>> {
  const { url, role, connections, now } = options;
  const onError = (error: unknown, job: Job = noJob): void => options.onJobError(error, job);
  const migrations = [jobMigrations, ...options.migrations];
  const database = await openDatabase<JobTables>({
    ...{ url, role, migrations, onError },
    ...(connections === undefined ? {} : { connections }),
  });
  const jobs = new DurableJobQueue({
    database,
    mayWork: role === 'serving',
    now,
    onError,
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
