import { type Kysely, type Migration, Migrator } from 'kysely';
import { DatabaseUnusableError } from './database-unusable-error.js';

/** Forward-only changes of one unit's tables, by name; run in the order of their names. */
export interface MigrationSet {
  /** Names the table that remembers what was run. */
  readonly unit: string;
  readonly migrations: Readonly<Record<string, Migration>>;
}

/**
 * Brings the tables of each unit up to date, under a lock.
 * @throws DatabaseUnusableError when the database comes from a newer version, or a migration fails (nothing of it stays).
 */
export async function migrate<Tables>(db: Kysely<Tables>, sets: readonly MigrationSet[]): Promise<void> {
  for (const { unit, migrations } of sets) {
    const migrator = new Migrator({
      db,
      provider: { getMigrations: async () => ({ ...migrations }) },
      migrationTableName: `${unit}_migrations`,
      migrationLockTableName: `${unit}_migrations_lock`,
    });
    await refuseNewerDatabase(db, { unit, migrations });
    const { error, results } = await migrator.migrateToLatest();
    if (error !== undefined) {
      const failed = results?.find(({ status }) => status === 'Error')?.migrationName ?? 'unknown';
      throw new DatabaseUnusableError(
        `The database could not be migrated (${unit}, step ${failed}): ${(error as Error).message}; restore a backup or mend the cause and start again.`,
        { cause: error },
      );
    }
  }
}

async function refuseNewerDatabase<Tables>(
  db: Kysely<Tables>,
  { unit, migrations }: MigrationSet,
): Promise<void> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true });
  if (!tables.some(({ name }) => name === `${unit}_migrations`)) return;
  const rows = await (db as unknown as Kysely<Record<string, { name: string }>>)
    .selectFrom(`${unit}_migrations`)
    .select('name')
    .execute();
  const unknown = rows.map(({ name }) => name).filter((name) => !Object.hasOwn(migrations, name));
  if (unknown.length > 0) {
    throw new DatabaseUnusableError(
      `The database was made by a newer version of this program (it holds ${unit} step ${unknown.sort().at(-1)}): install that version, or restore a backup from before.`,
    );
  }
}
