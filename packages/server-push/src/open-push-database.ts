import { type DatabaseWithJobs, openDatabaseWithJobs } from '@waxwing/jobs';
import { createJobLog, createLogger, type Log } from '@waxwing/service/logging';
import { type ServerPushTables, serverPushMigrations } from './tables.js';

export interface PushDatabaseOptions {
  /** `sqlite:<file>` or `postgres://…`. It may be the host's own database. */
  readonly url: string;
  /** Default: a log of warnings on standard output. */
  readonly log?: Log;
}

/**
 * Opens the database for push, and creates the push tables in it. On SQLite, only one process at a time can open it
 * this way; on PostgreSQL, any number can.
 *
 * @throws DatabaseUnusableError whose message says how to fix the problem.
 */
export async function openPushDatabase(
  options: PushDatabaseOptions,
): Promise<DatabaseWithJobs<ServerPushTables>> {
  const log = options.log ?? createLogger('server-push', 'warn');
  const jobLog = createJobLog(log, 'waxwing-server-push');
  const database = await openDatabaseWithJobs<ServerPushTables>({
    url: options.url,
    migrations: [serverPushMigrations],
    role: 'serving',
    mayHoldOthers: true,
    now: Date.now,
    ...jobLog,
  });
  return {
    ...database,
    async close() {
      await database.close();
      jobLog.flush();
    },
  };
}
