import { realpathSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { fileTrouble } from '@waxwing/service/config';
import type { BackendOptions } from '../backend.js';
import { describeOpenness, describeWrongLocation, makePrivateFile } from '../database-file.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import { checkpointBytes } from './log-checkpoints.js';
import { isBusy } from './sqlite-errors.js';

export type SqliteDatabase = InstanceType<typeof DatabaseSync>;
export type SqliteStatement = ReturnType<SqliteDatabase['prepare']>;

/** Connections to one database file. One connection writes, and readers never wait for it. */
export interface SqliteFile {
  /** Real path of the file, with symbolic links resolved. */
  readonly path: string;
  readonly writer: SqliteDatabase;
  openReader(): SqliteDatabase;
}

// Short, because SQLite's busy wait blocks the event loop. Transactions retry without blocking it.
const busyTimeoutMilliseconds = 50;
// Switching to the write-ahead log and recovering from a crash need a lock. Only startup may wait this long for it.
const openingTimeoutMilliseconds = 10_000;
// A commit of many messages touches thousands of index pages. With a smaller cache they would be read repeatedly.
const writerCacheKibibytes = 32_768;

type IdentityOptions = Pick<BackendOptions, 'mayHoldOthers' | 'units' | 'remedyIfMissing'>;

/**
 * Opens a database file with settings that make commits durable, or creates it with mode 0600. The file must be empty
 * or contain the tables of one of `units`, unless `mayHoldOthers` is set.
 *
 * @throws DatabaseUnusableError whose message says what to do
 */
export function openSqlite(
  path: string,
  { units, remedyIfMissing, mayHoldOthers }: IdentityOptions,
): SqliteFile {
  refuseUnusable(path);
  try {
    // Creates the file with a private mode first: SQLite gives the -wal and -shm files the same mode.
    makePrivateFile(path);
    const writer = new DatabaseSync(path);
    writer.exec(`pragma busy_timeout = ${openingTimeoutMilliseconds}`);
    // A file of another program must be refused before anything in it is changed.
    refuseForeign(writer, path, { units, remedyIfMissing, mayHoldOthers });
    writer.exec('pragma journal_mode = wal');
    writer.exec('pragma synchronous = full');
    writer.exec('pragma foreign_keys = on');
    // Checkpoints run in a thread, because they would block the event loop. A restarted log is truncated to this size.
    writer.exec('pragma wal_autocheckpoint = 0');
    writer.exec(`pragma journal_size_limit = ${checkpointBytes}`);
    writer.exec(`pragma cache_size = -${writerCacheKibibytes}`);
    writer.exec(`pragma busy_timeout = ${busyTimeoutMilliseconds}`);
    return { path: realpathSync.native(path), writer, openReader: () => openReader(path) };
  } catch (cause) {
    if (cause instanceof DatabaseUnusableError) throw cause;
    throw new DatabaseUnusableError(`The database file ${path} cannot be opened: ${fileTrouble(cause)}.`, {
      cause,
    });
  }
}

function refuseUnusable(path: string): void {
  const problem = describeWrongLocation(path) ?? describeOpenness(path);
  if (problem !== undefined) throw new DatabaseUnusableError(problem);
}

/**
 * Refuses a file in which no unit that identifies the program has its migrations table. A new file, or a file that may
 * contain other programs' tables, is refused only if `remedyIfMissing` is given.
 */
function refuseForeign(
  database: SqliteDatabase,
  path: string,
  { units, remedyIfMissing, mayHoldOthers }: IdentityOptions,
): void {
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by name")
    .all()
    .map(({ name }) => name);
  const isOurs = units.some((unit) => tables.includes(`${unit}_migrations`));
  const isEmpty = tables.length === 0;
  const mayBecomeOurs = isEmpty || mayHoldOthers === true;
  if (isOurs || (mayBecomeOurs && remedyIfMissing === undefined)) return;
  database.close();
  const problem = isEmpty ? 'is empty' : 'has no tables of this program';
  throw new DatabaseUnusableError(
    mayBecomeOurs
      ? `The database file ${path} ${problem}: ${remedyIfMissing}.`
      : `The file ${path} is another program's database (it has a table ${tables[0]}): use a different file.`,
  );
}

/**
 * Keeps the rollback data of each further statement in memory. SQLite needs such data for statements that touch more
 * than 16 pages, and a temporary file would wait for the disk. Do not use this for migrations, because sorting a whole
 * table needs files.
 */
export function keepUndoInMemory({ writer }: SqliteFile): void {
  writer.exec('pragma temp_store = memory');
}

function openReader(path: string): SqliteDatabase {
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec(`pragma busy_timeout = ${busyTimeoutMilliseconds}`);
  return reader;
}

/**
 * Acquires the lock for serving from a database file, for as long as this process lives. The operating system releases
 * the lock when the process ends. Call the returned function to release it.
 *
 * @throws DatabaseUnusableError if another process serves from the file
 */
export function lockForServing(path: string): () => void {
  refuseUnusable(path);
  const lockPath = lockPathOf(path);
  const lock = openLockFile(path, lockPath);
  try {
    lock.exec('begin exclusive');
  } catch (cause) {
    lock.close();
    if (!isBusy(cause)) throw cannotLock(path, lockPath, cause);
    throw new DatabaseUnusableError(
      `The database file ${path} is in use by another serving process: stop that one first, or use PostgreSQL to run several.`,
      { cause },
    );
  }
  return () => lock.close();
}

/**
 * Returns the path of the lock file. Creates the database file if it is missing, because only an existing file has a
 * real path.
 */
function lockPathOf(path: string): string {
  try {
    makePrivateFile(path);
    // Uses the real path, because a symbolic link is another name of the same database.
    return `${realpathSync.native(path)}.serving`;
  } catch (cause) {
    throw cannotLock(path, `${path}.serving`, cause);
  }
}

function openLockFile(path: string, lockPath: string): SqliteDatabase {
  try {
    makePrivateFile(lockPath);
    return new DatabaseSync(lockPath);
  } catch (cause) {
    throw cannotLock(path, lockPath, cause);
  }
}

function cannotLock(path: string, lockPath: string, cause: unknown): DatabaseUnusableError {
  return new DatabaseUnusableError(
    `The database file ${path} cannot be locked through ${lockPath}: ${fileTrouble(cause)}.`,
    { cause },
  );
}
