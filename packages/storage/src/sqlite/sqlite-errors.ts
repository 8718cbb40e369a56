import { DatabaseUnavailableError } from '../database-unavailable-error.js';

// Primary result codes of sqlite3.h; extended codes carry them in their lowest byte (https://sqlite.org/rescode.html).
const busy = 5;
const locked = 6;
const readOnly = 8;
const ioError = 10;
const full = 13;

/** Whether another process holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === busy || code === locked;
}

/**
 * Converts an error caused by a full or read-only disk, an I/O failure or a lock to a DatabaseUnavailableError. Returns
 * other errors unchanged.
 */
export function translateSqliteError(error: unknown): unknown {
  const code = resultCode(error);
  const { message } = error as Error;
  if (code === full) {
    return new DatabaseUnavailableError(
      `The disk of the database is full (${message}): free some space on it.`,
      {
        cause: error,
      },
    );
  }
  if (code === ioError) {
    return new DatabaseUnavailableError(
      `The database file cannot be read or written (${message}): check its disk.`,
      { cause: error },
    );
  }
  if (code === readOnly) {
    return new DatabaseUnavailableError(
      `The database file is read-only (${message}): let this program write to it and to its disk.`,
      { cause: error },
    );
  }
  if (code === busy || code === locked) {
    return new DatabaseUnavailableError(
      `The database is locked by another process (${message}): wait until that command ends.`,
      { cause: error },
    );
  }
  return error;
}

function resultCode(error: unknown): number | undefined {
  const sqliteCode = (error as { sqliteCode?: unknown } | undefined)?.sqliteCode;
  return typeof sqliteCode === 'number' ? sqliteCode & 0xff : undefined;
}
