import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import type { BenchResult } from './bench-result.js';
import { medianRates } from './bench-result.js';
import { queueRate } from './queue-rate.js';

const rounds = 3;
const jobs = 5_000;
const jobsAtOnce = 64;

/**
 * `jobs-postgres`: jobs added, claimed and done per second through the queue, against pg-boss itself fed and emptied in
 * batches of the same size. Left out when `WAXWING_TEST_POSTGRES_URL` is not set.
 */
export async function run(): Promise<BenchResult[]> {
  const server = process.env.WAXWING_TEST_POSTGRES_URL;
  if (!server) {
    console.error('jobs-postgres is left out: WAXWING_TEST_POSTGRES_URL is not set');
    return [];
  }
  const figures = await medianRates(
    rounds,
    () => withFreshDatabase(server, (url) => queueRate({ url, jobs, concurrency: jobsAtOnce })),
    () => withFreshDatabase(server, bareRate),
  );
  return [{ name: 'jobs-postgres', unit: 'jobs/s', goal: 0.5, better: 'higher', ...figures }];
}

async function bareRate(url: string): Promise<number> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  boss.on('error', (error) => {
    throw error;
  });
  await boss.start();
  await boss.createQueue('k');
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
  const rate = (jobs * 1000) / (performance.now() - start);
  await boss.stop({ graceful: false });
  return rate;
}

async function withFreshDatabase(server: string, measure: (url: string) => Promise<number>): Promise<number> {
  const name = `waxwing_bench_${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(`create database ${name}`);
    return await measure(Object.assign(new URL(server), { pathname: `/${name}` }).href);
  } finally {
    await client.query(`drop database if exists ${name} with (force)`);
    await client.end();
  }
}
