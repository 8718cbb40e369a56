import { openDatabaseWithJobs } from '@waxwing/jobs';

/**
 * A process that opens the SQLite file named on its command line in the serving role. Prints a line when it is ready,
 * and runs until it is killed.
 */
const [path] = process.argv.slice(2);
const database = await openDatabaseWithJobs({
  url: `sqlite:${path}`,
  migrations: [],
  role: 'serving',
  now: Date.now,
  onJobError: (error) => {
    throw error;
  },
});
await database.write((transaction) =>
  database.jobs.enqueue(transaction, { kind: 'k', payload: 'committed', giveUpAt: Date.now() + 60_000 }),
);
process.stdout.write('serving\n');
setInterval(() => undefined, 60_000);
