import { resolve } from 'node:path';
import type { StartCheck } from '@waxwing/service/config';
import { DatabaseUnusableError, type MigrationSet } from '@waxwing/storage';

/** A database, as {@link databaseStartCheck} needs it. */
export interface CheckedDatabase {
  readonly url: string;
  readonly migrations: readonly MigrationSet[];
}

/** Checks that a database can be reached, and was not made by a newer version. Changes nothing. */
export function databaseStartCheck(database: CheckedDatabase): StartCheck {
  return {
    name: 'database',
    async check() {
      const { missing, newer, pending } = await readDatabaseState(database);
      if (newer.length > 0) {
        throw new DatabaseUnusableError(
          `The database was made by a newer version of this program (it holds ${newer.join(', ')}): install that version.`,
        );
      }
      if (missing !== undefined) return `there is no file ${missing} yet, and the start creates it`;
      return pending.length === 0 ? undefined : `the start applies ${pending.join(', ')}`;
    },
  };
}

interface DatabaseState {
  /** The SQLite file, if there is none. */
  readonly missing: string | undefined;
  /** Migrations of a newer version, and migrations that are not applied yet. */
  readonly newer: readonly string[];
  readonly pending: readonly string[];
}

/** Reads which migrations a database has. Changes nothing. @throws DatabaseUnusableError if it cannot be opened. */
export async function readDatabaseState({ url, migrations }: CheckedDatabase): Promise<DatabaseState> {
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
