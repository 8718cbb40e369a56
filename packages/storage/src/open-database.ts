import { existsSync } from 'node:fs';
import type { Kysely } from 'kysely';
import type { Backend, BackendOptions } from './backend.js';
import { DatabaseCheck } from './database-check.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import { GroupCommit } from './group-commit.js';
import { DurableJobQueue } from './jobs/durable-job-queue.js';
import type { Job, JobQueue } from './jobs/job-queue.js';
import { type JobTables, jobMigrations } from './jobs/job-tables.js';
import { LeaseTable } from './jobs/lease-table.js';
import {
  type MigrationSet,
  type MigrationStatus,
  migrate,
  readMigrationStatus,
  statusOf,
} from './migrate.js';
import type { Signals } from './signals/signals.js';
import type { Write } from './transaction.js';

export interface OpenDatabaseOptions {
  /** `sqlite:<file>` or `postgres://…`. */
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
  /** `serving` for the process that answers requests and works jobs; `visiting` for a command beside it. */
  readonly role: 'serving' | 'visiting';
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
  /** The most connections to PostgreSQL that this process opens, from 2 on; 10 where nothing is said. */
  readonly connections?: number;
}

/** An open, migrated database. */
export interface Database<Tables> {
  /** For reading what is committed. Writes go through {@link write}. */
  readonly db: Kysely<Tables>;
  readonly jobs: JobQueue;
  readonly signals: Signals;
  /**
   * Commits `write` durably, together with others of the same moment. See {@link GroupCommit}.
   * @throws DatabaseUnavailableError when the database does not answer; answer with a 503 then.
   */
  write<Result>(write: Write<Tables, Result>): Promise<Result>;
  /**
   * `undefined` when the database answers and takes writes, of which it tries one every five seconds at most; otherwise a
   * sentence that says what is wrong. For readiness.
   */
  check(): Promise<string | undefined>;
  /** Hands back the jobs that still run, and closes. Further calls do nothing. */
  close(): Promise<void>;
}

const noJob: Job = { id: 'none', kind: 'none', payload: '', attempt: 0, createdAt: 0, giveUpAt: 0 };
const defaultConnections = 10;

/**
 * Opens the database and brings its tables up to date.
 * @throws DatabaseUnusableError with a sentence that says what to do.
 */
export async function openDatabase<Tables>(options: OpenDatabaseOptions): Promise<Database<Tables>> {
  const onError = (error: unknown, job: Job = noJob): void => options.onJobError(error, job);
  const backend = await openBackend<Tables>({
    url: options.url,
    role: options.role,
    connections: options.connections ?? defaultConnections,
    onError,
  });
  const { db, signals } = backend;
  const commits = new GroupCommit(db, {
    lanes: backend.lanes,
    isConflict: backend.isConflict,
    onActionError: onError,
  });
  const jobCommits = commits as unknown as GroupCommit<JobTables>;
  const jobDb = db as unknown as Kysely<JobTables>;
  await prepare(backend, options);
  const { leaseStatements: statements, isAlone } = backend;
  const { now } = options;
  const jobs = new DurableJobQueue({
    db: jobDb,
    commits: jobCommits,
    leases: new LeaseTable({ db: jobDb, commits: jobCommits, statements, isAlone, now }),
    signals,
    mayWork: options.role === 'serving',
    now,
    onError,
    onAnswer: () => options.onAnswer?.(),
    onDeadJobsRemoved: (count) => options.onDeadJobsRemoved?.(count),
  });
  const databaseCheck = new DatabaseCheck(db as unknown as Kysely<JobTables>, jobCommits, options.now);
  let closed: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    await jobs.stop(0);
    await backend.close();
  };
  return {
    db,
    jobs,
    signals,
    write: (write) => commits.run(write),
    check: () => databaseCheck.run(),
    close() {
      closed ??= closeAll();
      return closed;
    },
  };
}

/** The SQLite file that the URL names, when there is none yet; opening it would make an empty one. */
export function missingFile(url: string): string | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  return path === undefined || existsSync(path) ? undefined : path;
}

/**
 * What has been run of each unit's migrations, and what the next start would run; changes nothing.
 * @throws DatabaseUnusableError when the database cannot be opened.
 */
export async function migrationStatus(
  options: Pick<OpenDatabaseOptions, 'url' | 'migrations'>,
): Promise<MigrationStatus[]> {
  const sets = [jobMigrations, ...options.migrations];
  if (missingFile(options.url) !== undefined) return sets.map((set) => statusOf(set, []));
  const backend = await openBackend<unknown>({
    url: options.url,
    role: 'visiting',
    connections: 2,
    onError: () => undefined,
  });
  try {
    return await readMigrationStatus(backend.db, sets);
  } finally {
    await backend.close();
  }
}

async function openBackend<Tables>(options: BackendOptions): Promise<Backend<Tables>> {
  const scheme = /^[a-z]*(?=:)/.exec(options.url)?.[0];
  if (scheme === 'sqlite') {
    const { openSqliteBackend } = await import('./sqlite/sqlite-backend.js');
    return openSqliteBackend(options);
  }
  if (scheme === 'postgres' || scheme === 'postgresql') {
    const { openPostgresBackend } = await import('./postgres/postgres-backend.js');
    return await openPostgresBackend(options);
  }
  // The rest of the URL may hold a password.
  throw new DatabaseUnusableError(
    `The database URL begins with "${scheme ?? ''}", which is not known: write sqlite:<file> or postgres://….`,
  );
}

async function prepare<Tables>(backend: Backend<Tables>, options: OpenDatabaseOptions): Promise<void> {
  try {
    await backend.migrating(({ db, lock }) => migrate(db, [jobMigrations, ...options.migrations], lock));
  } catch (error) {
    await backend.close();
    throw error;
  }
}
