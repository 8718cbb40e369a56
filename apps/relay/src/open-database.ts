import { type DatabaseWithJobsOptions, openDatabaseWithJobs } from '@waxwing/jobs';
import type { Secret } from '@waxwing/service/config';
import type { Clock } from '@waxwing/service/lifecycle';
import { type RelayDatabase, type RelayTables, relayMigrations } from './tables.js';

export interface OpenRelayDatabaseOptions
  extends Pick<
    DatabaseWithJobsOptions,
    'role' | 'remedyIfMissing' | 'onJobError' | 'onJobGivenUp' | 'onAnswer' | 'onDeadJobsRemoved'
  > {
  readonly url: Secret<string>;
  readonly clock: Clock;
}

/**
 * Opens the relay's database and migrates its tables.
 * @throws DatabaseUnusableError whose message says how to fix the problem.
 */
export function openRelayDatabase(options: OpenRelayDatabaseOptions): Promise<RelayDatabase> {
  const { url, clock, ...rest } = options;
  return openDatabaseWithJobs<RelayTables>({
    ...rest,
    url: url.reveal(),
    migrations: relayMigrations,
    now: clock,
  });
}
