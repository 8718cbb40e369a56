import { Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import type { Backend, BackendOptions } from '../backend.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import { describeConnectionTrouble, describeMissingRight } from './connection-trouble.js';
import { describeOpenKeyFile } from './describe-open-key-file.js';
import { isPostgresConflict } from './postgres-errors.js';
import { createPool, translatingPool, waitPatiently } from './postgres-pool.js';
import { PostgresSignals } from './postgres-signals.js';
import { withPlainTlsMode } from './tls-mode.js';

// While one transaction waits for the disk, the next collects writes. More would only make batches smaller.
const transactionsInFlight = 2;
/** Arbitrary, but must be unique among the advisory locks of the database. */
const migrationLock = 7_214_669_001;

/** @throws DatabaseUnusableError if the server is unreachable. */
export async function openPostgresBackend<Tables>(options: BackendOptions): Promise<Backend<Tables>> {
  const { connections, onError } = options;
  const url = withPlainTlsMode(options.url);
  const openKeyFile = describeOpenKeyFile(url);
  if (openKeyFile !== undefined) throw new DatabaseUnusableError(openKeyFile);
  const pool = createPool({ url, connections: Math.max(2, connections) });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: translatingPool(pool) }) });
  const signals = new PostgresSignals(url, pool, onError);
  try {
    await sql`select 1`.execute(db);
  } catch (cause) {
    await db.destroy();
    throw new DatabaseUnusableError(describeConnectionTrouble(url, (cause as Error).cause ?? cause), {
      cause,
    });
  }
  return {
    kind: 'postgres',
    db,
    signals,
    writers: Math.min(transactionsInFlight, Math.max(1, connections - 1)),
    isConflict: isPostgresConflict,
    waitPatiently: async (transaction) => void (await sql.raw(waitPatiently).execute(transaction)),
    migrating: (work) => withPatience(url, work),
    withWriteLock: (work) => work(),
    logBytes: () => undefined,
    async close() {
      await signals.close();
      await db.destroy();
    },
  };
}

/** No timeouts: changing large tables takes long, and other processes wait for the migration lock. */
async function withPatience<Tables>(
  url: string,
  work: Parameters<Backend<Tables>['migrating']>[0],
): Promise<void> {
  const pool = createPool({ url, connections: 2, isPatient: true });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: translatingPool(pool) }) });
  try {
    await work({ db, lock: lockMigrations });
  } catch (error) {
    const missing = describeMissingRight(url, (error as Error).cause ?? error);
    throw missing === undefined ? error : new DatabaseUnusableError(missing, { cause: error });
  } finally {
    await db.destroy();
  }
}

async function lockMigrations<Tables>(transaction: Transaction<Tables>): Promise<void> {
  // The role may have a statement timeout of its own.
  await sql.raw(waitPatiently).execute(transaction);
  await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
}
