import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Backend, BackendOptions } from '../backend.js';
import { DatabaseUnavailableError } from '../database-unavailable-error.js';
import { DatabaseUnusableError } from '../database-unusable-error.js';
import {
  describeConnectionTrouble,
  describeLocation,
  describeStandby,
  describeTransactionPooling,
} from './connection-trouble.js';
import { describeOpenKeyFile } from './describe-open-key-file.js';
import { isStandby } from './is-standby.js';
import { poolsTransactions } from './pooling-mode.js';
import { isPostgresConflict } from './postgres-errors.js';
import { createPool, translatingPool, waitPatiently } from './postgres-pool.js';
import { PostgresSignals } from './postgres-signals.js';
import { PrimaryFinder } from './primary-finder.js';
import { runMigrations } from './run-migrations.js';
import { withPlainTlsMode } from './tls-mode.js';

// While one transaction waits for the disk, the next collects writes. A third would only make batches smaller.
const transactionsInFlight = 2;

/** @throws DatabaseUnusableError if the server cannot be reached. */
export async function openPostgresBackend<Tables>(options: BackendOptions): Promise<Backend<Tables>> {
  const { connections, onError } = options;
  const url = withPlainTlsMode(options.url);
  const openKeyFile = describeOpenKeyFile(url);
  if (openKeyFile !== undefined) throw new DatabaseUnusableError(openKeyFile);
  const primary = new PrimaryFinder(url);
  const pool = createPool({ primary, connections: Math.max(2, connections) });
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: translatingPool(pool) }) });
  const signals = new PostgresSignals(primary, pool, onError);
  try {
    if (await poolsTransactions(pool)) throw new DatabaseUnusableError(describeTransactionPooling(url));
    if (await isStandby(pool)) throw new DatabaseUnusableError(describeStandby(url));
    await refuseEmpty(db, url, options);
  } catch (cause) {
    await db.destroy();
    if (cause instanceof DatabaseUnusableError) throw cause;
    const original = cause instanceof DatabaseUnavailableError ? cause.cause : cause;
    throw new DatabaseUnusableError(describeConnectionTrouble(url, original), { cause });
  }
  return {
    kind: 'postgres',
    location: describeLocation(url),
    db,
    signals,
    writers: Math.min(transactionsInFlight, Math.max(1, connections - 1)),
    isConflict: isPostgresConflict,
    waitPatiently: async (transaction) => void (await sql.raw(waitPatiently).execute(transaction)),
    migrating: (work) => runMigrations(url, primary, work),
    withWriteLock: (work) => work(),
    logBytes: () => undefined,
    isPoolExhausted: () => pool.waitingCount > 0 && pool.totalCount >= pool.options.max,
    async close() {
      await signals.close();
      await db.destroy();
    },
  };
}

/**
 * If `remedyIfMissing` is given, refuses a database in which no unit that identifies the program has its migrations
 * table.
 */
async function refuseEmpty<Tables>(
  db: Kysely<Tables>,
  url: string,
  { units, remedyIfMissing }: BackendOptions,
): Promise<void> {
  const tables = units.map((unit) => `${unit}_migrations`);
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${tables}::text[]) as name where to_regclass(quote_ident(name)) is not null`.execute(
    db,
  );
  if (rows.length > 0 || remedyIfMissing === undefined) return;
  const others = await sql`select from pg_tables where schemaname = 'public' limit 1`.execute(db);
  const problem = others.rows.length === 0 ? 'is empty' : 'has no tables of this program';
  throw new DatabaseUnusableError(`The ${describeLocation(url)}, ${problem}: ${remedyIfMissing}.`);
}
