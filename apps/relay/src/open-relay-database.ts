import type { Clock, Secret } from '@waxwing/service';
import { type OpenDatabaseOptions, openDatabase } from '@waxwing/storage';
import { type RelayDatabase, type RelayTables, relayMigrationSets } from './relay-tables.js';

export interface OpenRelayDatabaseOptions extends Pick<OpenDatabaseOptions, 'role' | 'onJobError'> {
  readonly url: Secret<string>;
  readonly clock: Clock;
}

/** The relay's database, its tables up to date. @throws DatabaseUnusableError with a sentence that says what to do. */
export function openRelayDatabase(options: OpenRelayDatabaseOptions): Promise<RelayDatabase> {
  const { url, clock, role, onJobError } = options;
  const migrations = relayMigrationSets;
  return openDatabase<RelayTables>({ url: url.reveal(), migrations, role, now: clock, onJobError });
}
