import { type DatabaseWithJobsOptions, openDatabaseWithJobs } from '@waxwing/jobs';
import type { Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { type ServerDatabase, type ServerTables, serverMigrations } from './tables.js';

export interface OpenServerDatabaseOptions
  extends Pick<
    DatabaseWithJobsOptions,
    'role' | 'remedyIfMissing' | 'onJobError' | 'onJobGivenUp' | 'onAnswer' | 'onDeadJobsRemoved'
  > {
  readonly url: Secret<string>;
  readonly clock: Clock;
}

/**
 * Opens the server's database and applies its migrations. @throws DatabaseUnusableError, whose message contains the
 * remedy.
 */
export function openServerDatabase(options: OpenServerDatabaseOptions): Promise<ServerDatabase> {
  const { url, clock, ...rest } = options;
  return openDatabaseWithJobs<ServerTables>({
    ...rest,
    url: url.reveal(),
    migrations: serverMigrations,
    now: clock,
  });
}
