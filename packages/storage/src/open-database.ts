import { Kysely } from 'kysely';
import { DatabaseUnusableError } from './database-unusable-error.js';
import { GroupCommit } from './group-commit.js';
import type { Job, JobQueue } from './jobs/job-queue.js';
import { type JobTables, jobMigrations } from './jobs/job-tables.js';
import { SqliteJobQueue } from './jobs/sqlite-job-queue.js';
import { type MigrationSet, migrate } from './migrate.js';
import { lockForServing, openSqlite } from './sqlite/open-sqlite.js';
import { createSqliteDialect } from './sqlite/sqlite-dialect.js';
import type { Write } from './transaction.js';

export interface OpenDatabaseOptions {
  /** `sqlite:<file>`. */
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
  /** `serving` for the process that answers requests and works jobs; `visiting` for a command beside it. */
  readonly role: 'serving' | 'visiting';
  readonly now: () => number;
  onJobError(error: unknown, job: Job): void;
}

/** An open, migrated database. */
export interface Database<Tables> {
  /** For reading. Writes go through {@link write}. */
  readonly db: Kysely<Tables>;
  readonly jobs: JobQueue;
  /** Commits `write` durably, together with others of the same moment. See {@link GroupCommit}. */
  write<Result>(write: Write<Tables, Result>): Promise<Result>;
  /** `undefined` when the database answers; otherwise a sentence that says what is wrong. For readiness. */
  check(): Promise<string | undefined>;
  close(): Promise<void>;
}

/**
 * Opens the database and brings its tables up to date.
 * @throws DatabaseUnusableError with a sentence that says what to do.
 */
export async function openDatabase<Tables>(options: OpenDatabaseOptions): Promise<Database<Tables>> {
  const path = sqlitePath(options.url);
  const unlock = options.role === 'serving' ? lockForServing(path) : () => undefined;
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(openSqlite(path)) });
  try {
    await migrate(db, [jobMigrations, ...options.migrations]);
  } catch (error) {
    await db.destroy();
    unlock();
    throw error;
  }
  const commits = new GroupCommit(db);
  const jobs = new SqliteJobQueue(
    db as unknown as Kysely<JobTables>,
    commits as unknown as GroupCommit<JobTables>,
    { now: options.now, onHandlerError: options.onJobError },
  );
  return {
    db,
    jobs,
    write: (write) => commits.run(write),
    async check() {
      try {
        await db.selectNoFrom(({ lit }) => lit(1).as('one')).execute();
        return undefined;
      } catch (error) {
        return `the database does not answer: ${(error as Error).message}`;
      }
    },
    async close() {
      await db.destroy();
      unlock();
    },
  };
}

function sqlitePath(url: string): string {
  const path = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : '';
  if (path === '') {
    throw new DatabaseUnusableError(`The database URL "${url}" is not known: write sqlite:<file>.`);
  }
  return path;
}
