import { type Kysely, sql } from 'kysely';
import type pg from 'pg';
import { PgBoss } from 'pg-boss';

/** Where pg-boss keeps its tables; they are its own, and it migrates them itself. */
export const jobSchema = 'pgboss';

export interface StartPgBossOptions {
  /** Through which its tables are brought up to date. */
  readonly migrations: pg.Pool;
  /** What it works with from then on. */
  readonly pool: pg.Pool;
  onError(error: unknown): void;
}

/** Starts pg-boss and brings its tables up to date. */
export async function startPgBoss({ migrations, pool, onError }: StartPgBossOptions): Promise<PgBoss> {
  let current = migrations;
  const boss = new PgBoss({
    db: { executeSql: (text, values) => current.query(text, values) },
    schema: jobSchema,
    // Both would look at every job again and again; schedules and leases are this package's own.
    supervise: false,
    schedule: false,
  });
  boss.on('error', onError);
  await boss.start();
  current = pool;
  return boss;
}

/** What this package asks of pg-boss's table, and pg-boss itself never does: whose lease has ended, and what is next. */
export async function addJobIndexes(db: Kysely<unknown>): Promise<void> {
  const table = sql.table(`${jobSchema}.job_common`);
  await sql`create index if not exists waxwing_leases on ${table} (heartbeat_on) where state = 'active'`.execute(
    db,
  );
  await sql`create index if not exists waxwing_next on ${table} (name, start_after)
    where state < 'active' and not blocked`.execute(db);
}
