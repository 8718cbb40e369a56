import { realpathSync } from 'node:fs';
import { DatabaseSync } from '@photostructure/sqlite';
import { fileTrouble } from '@waxwing/service/config';
import { describeMisplacement, describeOpenness, makePrivateFile } from '../database-file.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import { checkpointBytes } from './log-checkpoints.js';
import { isBusy } from './sqlite-errors.js';

export type SqliteDatabase = InstanceType<typeof DatabaseSync>;
export type SqliteStatement = ReturnType<SqliteDatabase['prepare']>;

/** The connections of one file: all writes go through one, and readers never wait for it. */
export interface SqliteFile {
  /** The file itself, which no link leads to. */
  readonly path: string;
  readonly writer: SqliteDatabase;
  openReader(): SqliteDatabase;
}

// Waiting for another process's lock stops the event loop, so it is short here; transactions wait without stopping it.
const busyTimeoutMilliseconds = 50;
// Turning on the write-ahead log and the first recovery take a lock that only the start may wait for.
const openingTimeoutMilliseconds = 10_000;
// A commit of many messages touches thousands of pages of indexes, which are read again and again where they find no room.
const writerCacheKibibytes = 32_768;

/**
 * Opens (or makes, mode 0600) a database file with the settings that make a commit survive a crash; it is empty or holds
 * tables of one of `units`.
 */
export function openSqlite(path: string, units: readonly string[]): SqliteFile {
  refuseUnusable(path);
  try {
    // SQLite gives the -wal and -shm files the mode of the file that they belong to.
    makePrivateFile(path);
    const writer = new DatabaseSync(path);
    writer.exec(`pragma busy_timeout = ${openingTimeoutMilliseconds}`);
    // Before anything is changed in it.
    refuseForeign(writer, path, units);
    writer.exec('pragma journal_mode = wal');
    writer.exec('pragma synchronous = full');
    writer.exec('pragma foreign_keys = on');
    // What the event loop would wait for is done in a thread. A log that starts again is cut to this size.
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
  const problem = describeMisplacement(path) ?? describeOpenness(path);
  if (problem !== undefined) throw new DatabaseUnusableError(problem);
}

/** What is ours has the migrations of one of our units, which are committed with the first tables. */
function refuseForeign(database: SqliteDatabase, path: string, units: readonly string[]): void {
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite%' order by name")
    .all()
    .map(({ name }) => name);
  if (tables.length === 0 || units.some((unit) => tables.includes(`${unit}_migrations`))) return;
  database.close();
  throw new DatabaseUnusableError(
    `The file ${path} is another program's database (it has a table ${tables[0]}): name a file of your own.`,
  );
}

/**
 * What would undo a statement that fails is kept in memory from now on. In a temporary file, which a statement that touches
 * more than 16 pages makes, it waits for the disk. A migration may sort a whole table, which is better done in files.
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
 * Takes the right to serve from a database file, for as long as this process lives: an operating-system lock, so that
 * a process that died holds nothing. The answer gives it up.
 * @throws DatabaseUnusableError when another process serves from the file.
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

/** The database file is made when there is none, as only a file has a real path. */
function lockPathOf(path: string): string {
  try {
    makePrivateFile(path);
    // A link is another name of the same database.
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
