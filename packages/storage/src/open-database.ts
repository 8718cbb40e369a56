import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describeDatabaseUrlMistake } from '@waxwing/service/config';
import type { Kysely } from 'kysely';
import type { Backend, BackendOptions, DatabaseRole } from './backend.js';
import { describeUncreatable } from './database-file.js';
import { DatabaseUnusableError } from './database-unusable-error.js';
import { GroupCommit } from './group-commit.js';
import {
  identifyingUnits,
  type MigrationSet,
  type MigrationStatus,
  migrate,
  readMigrationStatus,
  statusOf,
} from './migrate.js';
import { repeatConflicts } from './repeat-conflicts.js';
import type { Signals } from './signals/signals.js';
import type { Write } from './transaction.js';

export interface OpenDatabaseOptions {
  /** `sqlite:<file>` or `postgres://…`. */
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
  readonly role: DatabaseRole;
  /** Called with errors of background work. */
  onError(error: unknown): void;
  /** Maximum PostgreSQL connections of this process, at least 2; default 10. */
  readonly connections?: number;
  /**
   * If given, a missing or empty database is refused instead of created. The error message ends with this text, which
   * says what to do.
   */
  readonly remedyIfMissing?: string | undefined;
  /** Whether a SQLite file may also contain other programs' tables. By default, a file with such tables is refused. */
  readonly mayHoldOthers?: boolean | undefined;
}

/** An open, migrated database: the shared contract of SQLite and PostgreSQL. */
export interface Database<Tables> {
  readonly kind: 'sqlite' | 'postgres';
  /**
   * Readable name of the database, without its password: the absolute path of the file, or the name and address of the
   * PostgreSQL database.
   */
  readonly location: string;
  /** Kysely handle for reading committed data. Writes must use {@link write}. */
  readonly db: Kysely<Tables>;
  readonly signals: Signals;
  /** Runs `read` on a snapshot of the database. `read` may run more than once. */
  readSnapshot<Result>(read: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Commits `write` durably, in a batch with concurrent writes ({@link GroupCommit}). `write` may run more than once.
   *
   * @throws DatabaseUnavailableError if the database is unreachable; respond with 503.
   */
  write<Result>(write: Write<Tables, Result>): Promise<Result>;
  /**
   * Like {@link write}, but runs before the other writes in its batch. For a write that takes a lock that other batches
   * also take: waiting for that lock after an earlier write in the batch has locked rows could cause a deadlock.
   */
  writeFirst<Result>(write: Write<Tables, Result>): Promise<Result>;
  /**
   * Like {@link write}, for a write that already batches a whole event-loop tick. Starts immediately if a writer is
   * free.
   */
  writeBatched<Result>(write: Write<Tables, Result>): Promise<Result>;
  /**
   * Commits a write that is a single statement and needs no explicit transaction. Takes one round trip on PostgreSQL.
   *
   * @throws DatabaseUnavailableError as {@link write} does
   */
  writeStatement<Result>(statement: (db: Kysely<Tables>) => Promise<Result>): Promise<Result>;
  /**
   * Commits a slow or very large write in its own transaction. On PostgreSQL, blocks no other writes. On SQLite, blocks
   * all other writes; the result says for how long.
   *
   * @throws DatabaseUnavailableError as {@link write} does
   */
  writeSingle<Result>(write: Write<Tables, Result>): Promise<SingleResult<Result>>;
  /**
   * Runs `work` while holding the write lock, so that a worker thread can commit. On SQLite, no other write of this
   * process runs until `work` ends. On PostgreSQL, `work` starts immediately.
   *
   * @throws DatabaseUnavailableError as {@link write} does, and the errors of `work`
   */
  withWriteLock<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Whether any write was requested, for example through {@link write}. Migrations do not count. */
  hasWritten(): boolean;
  /** Size of SQLite's write-ahead log in bytes; `undefined` on PostgreSQL. */
  logBytes(): number | undefined;
  /** Whether statements are waiting because all connections of this process are in use. Always false on SQLite. */
  isPoolExhausted(): boolean;
  /** Closes the connections. Idempotent. */
  close(): Promise<void>;
}

/** Result of {@link Database.writeSingle}. */
export interface SingleResult<Result> {
  readonly result: Result;
  /** How long the write blocked other writes, in milliseconds; `undefined` on PostgreSQL, where it blocked none. */
  readonly fileLockedMilliseconds: number | undefined;
}

const defaultConnections = 10;

/**
 * Opens the database and migrates its tables (except in a `helping` thread).
 *
 * @throws DatabaseUnusableError whose message says what to do
 */
export async function openDatabase<Tables>(options: OpenDatabaseOptions): Promise<Database<Tables>> {
  const { url, role, migrations, connections = defaultConnections, remedyIfMissing } = options;
  const onError = (error: unknown): void => options.onError(error);
  requireUsable(url);
  const units = identifyingUnits(migrations);
  const missing = remedyIfMissing === undefined ? undefined : missingFile(url);
  if (missing !== undefined) {
    throw new DatabaseUnusableError(`There is no database file ${resolve(missing)}: ${remedyIfMissing}.`);
  }
  const backend = await openBackend<Tables>({ ...options, units, connections, onError });
  const { kind, location, db, signals, writers, isConflict, runAtOnce } = backend;
  const commits = new GroupCommit(db, {
    writers,
    connections,
    isConflict,
    runAtOnce,
    onActionError: onError,
  });
  try {
    if (role !== 'helping') await backend.migrating(({ db, lock }) => migrate(db, migrations, lock));
  } catch (error) {
    await backend.close();
    throw error;
  }
  let closed: Promise<void> | undefined;
  return {
    kind,
    location,
    db,
    signals,
    readSnapshot: (read) => repeatConflicts(() => readAtOneInstant(db, read), { connections, isConflict }),
    write: (write) => commits.run(write),
    writeFirst: (write) => commits.run(write, { isFirst: true }),
    writeBatched: (write) => commits.run(write, { isBatched: true }),
    writeStatement: (statement) =>
      kind === 'postgres'
        ? repeatConflicts(() => statement(db), { connections, isConflict })
        : commits.run(({ db }) => statement(db)),
    writeSingle: (write) => writeSingle(backend, commits, write),
    withWriteLock: (work) => backend.withWriteLock(work),
    hasWritten: () => commits.hasRun,
    logBytes: () => backend.logBytes(),
    isPoolExhausted: () => backend.isPoolExhausted(),
    close() {
      closed ??= backend.close();
      return closed;
    },
  };
}

function readAtOneInstant<Tables, Result>(
  db: Kysely<Tables>,
  read: (db: Kysely<Tables>) => Promise<Result>,
): Promise<Result> {
  return db.transaction().setAccessMode('read only').setIsolationLevel('repeatable read').execute(read);
}

async function writeSingle<Tables, Result>(
  backend: Backend<Tables>,
  commits: GroupCommit<Tables>,
  write: Write<Tables, Result>,
): Promise<SingleResult<Result>> {
  let begun = 0;
  const result = await commits.runSingle(async (transaction) => {
    begun = performance.now();
    await backend.waitPatiently(transaction.db);
    return write(transaction);
  });
  const isFileLocked = backend.kind === 'sqlite';
  return { result, fileLockedMilliseconds: isFileLocked ? performance.now() - begun : undefined };
}

/**
 * Returns the path of the SQLite file in `url` if the file does not exist, otherwise `undefined`. Call this before
 * opening, because opening creates an empty file.
 *
 * @throws the operating system's error if it cannot be determined whether the file exists
 */
export function missingFile(url: string): string | undefined {
  const path = /^sqlite:(.+)$/s.exec(url)?.[1];
  return path === undefined || statSync(path, { throwIfNoEntry: false }) !== undefined ? undefined : path;
}

/**
 * Reads the completed and pending migrations of each unit. Changes nothing. If the SQLite file is missing, all
 * migrations are pending.
 *
 * @throws DatabaseUnusableError if the database cannot be opened, or if its file could not be created
 */
export async function migrationStatus(
  options: Pick<OpenDatabaseOptions, 'url' | 'migrations'>,
): Promise<MigrationStatus[]> {
  const { url, migrations } = options;
  requireUsable(url);
  const missing = missingFile(url);
  if (missing !== undefined) {
    const problem = describeUncreatable(missing);
    if (problem !== undefined) throw new DatabaseUnusableError(problem);
    return migrations.map((set) => statusOf(set, []));
  }
  const backend = await openBackend<unknown>({
    url,
    role: 'visiting',
    units: identifyingUnits(migrations),
    connections: 2,
    onError: () => undefined,
  });
  try {
    return await readMigrationStatus(backend.db, migrations);
  } catch (cause) {
    throw backend.kind === 'postgres' ? await asMissingRight(url, cause) : cause;
  } finally {
    await backend.close();
  }
}

async function asMissingRight(url: string, cause: unknown): Promise<unknown> {
  const { describeMissingRight } = await import('./postgres/connection-trouble.js');
  const missing = describeMissingRight(url, cause);
  return missing === undefined ? cause : new DatabaseUnusableError(missing, { cause });
}

async function openBackend<Tables>(options: BackendOptions): Promise<Backend<Tables>> {
  if (options.url.startsWith('sqlite:')) {
    const { openSqliteBackend } = await import('./sqlite/sqlite-backend.js');
    return openSqliteBackend(options);
  }
  const { openPostgresBackend } = await import('./postgres/postgres-backend.js');
  return await openPostgresBackend(options);
}

/** Checks a database URL. @throws DatabaseUnusableError if it has a mistake that makes it unsafe to open or show. */
function requireUsable(url: string): void {
  const mistake = describeDatabaseUrlMistake(url);
  if (mistake !== undefined) throw new DatabaseUnusableError(mistake);
}
