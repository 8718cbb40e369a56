import { createTemporaryPostgres } from '../support/temporary-postgres.js';
import type { BenchResult } from './bench-result.js';
import { medianRates } from './bench-result.js';
import { bossLatencies, queueLatencies } from './jobs-latency.js';
import { queueRate } from './queue-rate.js';
import { withPgBoss } from './with-pg-boss.js';

const rounds = 3;
const jobs = 5_000;
const jobsAtOnce = 64;

/**
 * `jobs-postgres`: jobs added, claimed and completed per second by the queue, compared with pg-boss with batches of the
 * same size. `jobs-postgres-p50` and `-p99`: time from adding a job until its handler starts, compared with pg-boss's
 * worker. Skipped if `WAXWING_TEST_POSTGRES_URL` is not set.
 */
export async function run(): Promise<BenchResult[]> {
  const server = process.env.WAXWING_TEST_POSTGRES_URL;
  if (!server) {
    console.error('jobs-postgres is skipped: WAXWING_TEST_POSTGRES_URL is not set');
    return [];
  }
  const figures = await medianRates(
    rounds,
    () => withFreshDatabase(server, (url) => queueRate({ url, jobs, concurrency: jobsAtOnce })),
    () => withFreshDatabase(server, bareRate),
  );
  return [
    { name: 'jobs-postgres', unit: 'jobs/s', goal: 0.5, better: 'higher', ...figures },
    ...(await latencies(server)),
  ];
}

async function latencies(server: string): Promise<BenchResult[]> {
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    ours.push(...(await withFreshDatabase(server, queueLatencies)));
    theirs.push(...(await withFreshDatabase(server, bossLatencies)));
  }
  return [50, 99].map((percent) => {
    const value = percentile(ours, percent);
    const against = percentile(theirs, percent);
    const name = `jobs-postgres-p${percent}`;
    return { name, unit: 'ms', goal: 1.5, better: 'lower', value, against, ratio: value / against };
  });
}

function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor((sorted.length * percent) / 100)] ?? Number.NaN;
}

function bareRate(url: string): Promise<number> {
  return withPgBoss(url, 'k', async (boss) => {
    const start = performance.now();
    for (let added = 0; added < jobs; added += jobsAtOnce) {
      await boss.insert(
        'k',
        Array.from({ length: Math.min(jobsAtOnce, jobs - added) }, (_, index) => ({
          data: { job: added + index },
        })),
      );
    }
    for (;;) {
      const claimed = await boss.fetch('k', { batchSize: jobsAtOnce });
      if (claimed.length === 0) break;
      await boss.complete(
        'k',
        claimed.map(({ id }) => id),
      );
    }
    return (jobs * 1000) / (performance.now() - start);
  });
}

async function withFreshDatabase<Figure>(
  server: string,
  measure: (url: string) => Promise<Figure>,
): Promise<Figure> {
  const database = await createTemporaryPostgres(server);
  try {
    return await measure(database.url);
  } finally {
    await database.drop();
  }
}
