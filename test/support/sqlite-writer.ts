import { openDatabaseWithJobs } from '@waxwing/jobs';
import { sql } from 'kysely';

/**
 * A process that commits the given number of 1 MiB notes to the SQLite file while other processes use it, then exits.
 */
const [path, count] = process.argv.slice(2);
const database = await openDatabaseWithJobs<{ notes: { text: string } }>({
  url: `sqlite:${path}`,
  migrations: [],
  role: 'visiting',
  now: Date.now,
  onJobError: (error) => {
    throw error;
  },
});
for (let written = 0; written < Number(count); written++) {
  await database.write(({ db }) =>
    db.insertInto('notes').values({ text: sql`hex(randomblob(524288))` }).execute(),
  );
}
await database.close();
