import type { DatabaseWithJobs } from '@waxwing/jobs';
import { addIdColumn, columnTypes, type MigrationSet } from '@waxwing/storage';
import type { Kysely } from 'kysely';
import type { TestBackend } from '../support/test-databases.js';

export interface BirdTables {
  birds: { id: number; name: string; seen: number };
}

/** One table for tests of what every table can expect of a database. */
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

/** Opens a database that has birds, a fresh one where no URL is given. */
export function openBirds(
  backend: TestBackend,
  url?: string,
  migrations = [birds],
): Promise<DatabaseWithJobs<BirdTables>> {
  return backend.open<BirdTables>({ migrations, ...(url === undefined ? {} : { url }) });
}

/** Stores a bird; its number. */
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

/** Of all birds, sorted. */
export async function birdNames(database: DatabaseWithJobs<BirdTables>): Promise<string[]> {
  const rows = await database.db.selectFrom('birds').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
}
