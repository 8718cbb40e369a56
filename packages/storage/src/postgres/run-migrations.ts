import { setTimeout as pause } from 'node:timers/promises';
import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type { Backend } from '../backend.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import { describeMissingRight } from './connection-trouble.js';
import { isDeadlock } from './postgres-errors.js';
import { createPool, translatingPool, waitPatiently } from './postgres-pool.js';
import type { PrimaryFinder } from './primary-finder.js';

/** An arbitrary number, which must be unique among the advisory locks of the database. */
const migrationLock = 7_214_669_001;
// Statements of serving processes queue behind a migration that waits for a table's lock. Each wait is therefore short,
// and the migration is retried.
const lockTimeoutMilliseconds = 2000;
const pauseMilliseconds = 3000;
const maximumAttempts = 60;
const lockTimeoutState = '55P03';

/**
 * Runs migrations without statement timeouts, because changing large tables takes a long time. Retries for five minutes
 * while other transactions lock the tables: processes of the previous version keep serving, and a backup may be
 * running.
 *
 * @throws DatabaseUnusableError if a privilege is missing, or a table stays locked.
 */
export async function runMigrations<Tables>(
  url: string,
  primary: PrimaryFinder,
  work: Parameters<Backend<Tables>['migrating']>[0],
): Promise<void> {
  const pool = createPool({ primary, connections: 2, isPatient: true });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: translatingPool(pool) }) });
  try {
    await retryWhileLocked(() => work({ db, lock: lockMigrations }));
  } catch (error) {
    const missing = describeMissingRight(url, (error as Error).cause ?? error);
    throw missing === undefined ? error : new DatabaseUnusableError(missing, { cause: error });
  } finally {
    await db.destroy();
  }
}

async function retryWhileLocked(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      const original = (error as Error).cause ?? error;
      const isTimeout = (original as { code?: unknown }).code === lockTimeoutState;
      if (!isTimeout && !isDeadlock(original)) throw error;
      if (attempt === maximumAttempts) throw new DatabaseUnusableError(tablesStayLocked, { cause: error });
      if (isTimeout) await pause(pauseMilliseconds);
    }
  }
}

const tablesStayLocked =
  'The database could not be migrated: transactions of other programs have kept its tables locked for five minutes. End them, such as a backup, and start again.';

async function lockMigrations<Tables>(transaction: Transaction<Tables>): Promise<void> {
  // Set explicitly, because the role may have its own timeouts.
  await sql.raw(waitPatiently).execute(transaction);
  await sql`set local lock_timeout = 0`.execute(transaction);
  await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
  await sql`set local lock_timeout = ${sql.lit(lockTimeoutMilliseconds)}`.execute(transaction);
}
