import { resolve } from 'node:path';
import type { StartCheck } from '@waxwing/service/config';
import { DatabaseUnusableError, type MigrationSet } from '@waxwing/storage';

/** The URL and migrations of the database that {@link databaseStartCheck} checks. */
export interface CheckedDatabase {
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
  /** Tables whose id counters startup raises. */
  readonly counters: readonly string[];
}

/**
 * Checks that a database can be opened, that no newer version has migrated it, and that its user has the privileges
 * that startup needs. Changes nothing.
 */
export function databaseStartCheck(database: CheckedDatabase): StartCheck {
  return {
    name: 'database',
    async check() {
      const { missing, newer, pending } = await readDatabaseState(database);
      if (newer.length > 0) {
        throw new DatabaseUnusableError(
          `The database was made by a newer version of this program (it contains ${newer.join(', ')}): install that version.`,
        );
      }
      if (missing !== undefined) return `there is no file ${missing} yet, and the start creates it`;
      const { requireRights } = await import('@waxwing/storage');
      const { url, counters } = database;
      await requireRights(url, { migrates: pending.length > 0, counters });
      return pending.length === 0 ? undefined : `the start applies ${pending.join(', ')}`;
    },
  };
}

interface DatabaseState {
  /** Absolute path of the SQLite file if it does not exist, otherwise `undefined`. */
  readonly missing: string | undefined;
  /** Applied migrations that this version does not know, as `<unit>/<name>`. A newer version applied them. */
  readonly newer: readonly string[];
  readonly pending: readonly string[];
}

/** Reads which migrations are applied. Changes nothing. @throws DatabaseUnusableError if the database cannot be opened. */
export async function readDatabaseState({
  url,
  migrations,
}: Pick<CheckedDatabase, 'url' | 'migrations'>): Promise<DatabaseState> {
  const { jobMigrations } = await import('@waxwing/jobs');
  const { migrationStatus, missingFile } = await import('@waxwing/storage');
  const units = await migrationStatus({ url, migrations: [jobMigrations, ...migrations] });
  const missing = missingFile(url);
  return {
    missing: missing === undefined ? undefined : resolve(missing),
    newer: units.flatMap(({ unit, newer }) => newer.map((name) => `${unit}/${name}`)),
    pending: units.flatMap(({ unit, pending }) => pending.map((name) => `${unit}/${name}`)),
  };
}
