import { setTimeout as pause } from 'node:timers/promises';
import { openDatabaseWithJobs } from '@waxwing/jobs';
import { withPgBoss } from './with-pg-boss.js';

const jobs = 400;
/** Interval between jobs: long enough that no job waits for another job in either queue. */
const everyMilliseconds = 10;
const jobsAtOnce = 64;

/**
 * Returns the latency of each job in milliseconds: from just before the job is added, in its own commit, until its
 * handler starts. Adds one job every ten milliseconds.
 */
export async function queueLatencies(url: string): Promise<number[]> {
  const database = await openDatabaseWithJobs({
    url,
    migrations: [],
    role: 'serving',
    now: Date.now,
    onJobError: (error) => {
      throw error;
    },
  });
  const arrivals = new Arrivals();
  database.jobs.handle('k', {
    concurrency: jobsAtOnce,
    async run({ payload }) {
      arrivals.begun(Number(payload));
      return { kind: 'done' };
    },
    giveUp: () => async () => {},
  });
  await database.jobs.start();
  const giveUpAt = Date.now() + 3_600_000;
  const latencies = await arrivals.add((job) =>
    database.write((transaction) =>
      database.jobs.enqueue(transaction, { kind: 'k', payload: `${job}`, giveUpAt }),
    ),
  );
  await database.close();
  return latencies;
}

/** Like {@link queueLatencies}, but for pg-boss and its worker. */
export function bossLatencies(url: string): Promise<number[]> {
  return withPgBoss(url, 'k', async (boss) => {
    const arrivals = new Arrivals();
    await boss.work<{ job: number }>('k', { batchSize: jobsAtOnce }, async (batch) => {
      for (const { data } of batch) arrivals.begun(data.job);
    });
    const latencies = await arrivals.add((job) => boss.insert('k', [{ data: { job } }]));
    await boss.offWork('k');
    return latencies;
  });
}

class Arrivals {
  readonly #addedAt: number[] = [];
  readonly #latencies: number[] = [];
  #allBegun: () => void = () => {};

  async add(addOne: (job: number) => Promise<unknown>): Promise<number[]> {
    const allBegun = new Promise<void>((resolve) => {
      this.#allBegun = resolve;
    });
    const start = performance.now();
    const adding: Promise<unknown>[] = [];
    for (let job = 0; job < jobs; job += 1) {
      await pause(start + job * everyMilliseconds - performance.now());
      this.#addedAt.push(performance.now());
      adding.push(addOne(job));
    }
    await Promise.all([allBegun, ...adding]);
    return this.#latencies;
  }

  begun(job: number): void {
    this.#latencies.push(performance.now() - (this.#addedAt[job] as number));
    if (this.#latencies.length === jobs) this.#allBegun();
  }
}
