import type { DatabaseWithJobs } from '@waxwing/jobs';
import { addIdColumn, columnTypes, type MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { TestBackend } from '../support/test-databases.js';

export interface BirdTables {
  birds: { id: number; name: string; seen: number };
}

/** A table for tests of guarantees that hold for any table. */
export const birds: MigrationSet = {
  unit: 'birds',
  migrations: {
    '0001-birds': {
      async up(db: Kysely<unknown>) {
        await addIdColumn(db, db.schema.createTable('birds'))
          .addColumn('name', columnTypes.text, (column) => column.notNull().unique())
          .addColumn('seen', columnTypes.integer, (column) => column.notNull())
          .execute();
      },
    },
  },
};

/** Opens a database with the `birds` table. Without a URL, creates a new database. */
export function openBirds(
  backend: TestBackend,
  url?: string,
  migrations = [birds],
): Promise<DatabaseWithJobs<BirdTables>> {
  return backend.open<BirdTables>({ migrations, ...(url === undefined ? {} : { url }) });
}

/** Stores a bird. Resolves to its id. */
export function insertBird(database: DatabaseWithJobs<BirdTables>, name: string, seen = 1): Promise<number> {
  return database.write(async ({ db }) => {
    const row = await db
      .insertInto('birds')
      .values({ name, seen } as never)
      .returning('id')
      .executeTakeFirstOrThrow();
    return row.id;
  });
}

/** The names of all birds, sorted. */
export async function birdNames(database: DatabaseWithJobs<BirdTables>): Promise<string[]> {
  const rows = await database.db.selectFrom('birds').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}
