import { closeSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { DatabaseUnusableError } from '../database-unusable-error.js';

export type SqliteDatabase = InstanceType<typeof DatabaseSync>;
export type SqliteStatement = ReturnType<SqliteDatabase['prepare']>;

const busyTimeoutMilliseconds = 10_000;

/** Opens (or makes, mode 0600) a database file with the settings that make a commit survive a crash. */
export function openSqlite(path: string): SqliteDatabase {
  try {
    makePrivateFile(path);
    const database = new DatabaseSync(path);
    database.exec(`pragma busy_timeout = ${busyTimeoutMilliseconds}`);
    database.exec('pragma journal_mode = wal');
    database.exec('pragma synchronous = full');
    database.exec('pragma foreign_keys = on');
    return database;
  } catch (cause) {
    throw new DatabaseUnusableError(
      `The database file ${path} cannot be opened: ${(cause as Error).message}; check its path and permissions.`,
      { cause },
    );
  }
}

/**
 * Takes the right to serve from a database file, for as long as this process lives: an operating-system lock, so that
 * a process that died holds nothing. The answer gives it up.
 * @throws DatabaseUnusableError when another process serves from the file.
 */
export function lockForServing(path: string): () => void {
  const lockPath = `${path}.serving`;
  makePrivateFile(lockPath);
  const lock = new DatabaseSync(lockPath);
  try {
    lock.exec('begin exclusive');
  } catch (cause) {
    lock.close();
    throw new DatabaseUnusableError(
      `The database file ${path} is in use by another serving process: stop that one first, or use PostgreSQL to run several.`,
      { cause },
    );
  }
  return () => lock.close();
}

function makePrivateFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, 'a', 0o600));
}
