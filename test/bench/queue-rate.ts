import { openDatabaseWithJobs } from '@waxwing/jobs';
import { idle } from '../support/idle.js';

export interface QueueRateOptions {
  readonly url: string;
  readonly jobs: number;
  readonly concurrency: number;
}

/** Returns the queue's rate in jobs per second. First adds all jobs, each in a separate write, and then runs them. */
export async function queueRate({ url, jobs, concurrency }: QueueRateOptions): Promise<number> {
  const database = await openDatabaseWithJobs({
    url,
    migrations: [],
    role: 'serving',
    now: Date.now,
    onJobError: (error) => {
      throw error;
    },
  });
  let done = 0;
  database.jobs.handle('k', {
    concurrency,
    async run() {
      done += 1;
      return { kind: 'done' };
    },
    giveUp: () => async () => {},
  });
  const giveUpAt = Date.now() + 3_600_000;
  const start = performance.now();
  // Adds `concurrency` jobs at a time, as a busy server would with as many requests in flight.
  for (let added = 0; added < jobs; added += concurrency) {
    const writes = Array.from({ length: Math.min(concurrency, jobs - added) }, (_, index) =>
      database.write((transaction) =>
        database.jobs.enqueue(transaction, { kind: 'k', payload: `{"job":${added + index}}`, giveUpAt }),
      ),
    );
    await Promise.all(writes);
  }
  await database.jobs.start();
  await idle(database.jobs);
  const elapsed = performance.now() - start;
  await database.close();
  if (done !== jobs) throw new Error(`${jobs} jobs were added and ${done} were done`);
  return (jobs * 1000) / elapsed;
}
