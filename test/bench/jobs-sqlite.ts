import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import type { BenchResult } from './bench-result.js';
import { medianRates } from './bench-result.js';
import { queueRate } from './queue-rate.js';

const rounds = 5;
const jobs = 10_000;
const jobsPerCommit = 64;

/**
 * `jobs-sqlite`: jobs durably added, claimed and completed per second by the queue, compared with bare SQLite that does
 * a queue's minimum: an insert, a lease and a delete of each job, with as many jobs per commit as in the queue.
 */
export async function run(): Promise<BenchResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'waxwing-bench-'));
  try {
    let round = 0;
    const figures = await medianRates(
      rounds,
      () =>
        queueRate({
          url: `sqlite:${join(folder, `queue-${round++}.sqlite`)}`,
          jobs,
          concurrency: jobsPerCommit,
        }),
      async () => bareRate(join(folder, `bare-${round++}.sqlite`)),
    );
    return [{ name: 'jobs-sqlite', unit: 'jobs/s', goal: 0.5, better: 'higher', ...figures }];
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function bareRate(path: string): number {
  const database = new DatabaseSync(path);
  // The product's settings for every database file.
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma wal_autocheckpoint = 8192');
  database.exec(
    'create table jobs (id integer primary key autoincrement, kind text, payload text, run_at, leased)',
  );
  database.exec('create index due on jobs (kind, run_at, id)');
  const insert = database.prepare(`insert into jobs (kind, payload, run_at) values ('k', ?, 0)`);
  const claim = database.prepare(
    `update jobs set leased = 1 where id in
      (select id from jobs where kind = 'k' and leased is null order by run_at, id limit ${jobsPerCommit}) returning id`,
  );
  const remove = database.prepare('delete from jobs where id = ?');
  const start = performance.now();
  for (let added = 0; added < jobs; added += jobsPerCommit) {
    database.exec('begin immediate');
    for (let index = 0; index < jobsPerCommit; index++) insert.run(`{"job":${added + index}}`);
    database.exec('commit');
  }
  for (;;) {
    const claimed = claim.all() as { id: number }[];
    if (claimed.length === 0) break;
    database.exec('begin immediate');
    for (const { id } of claimed) remove.run(id);
    database.exec('commit');
  }
  const rate = (jobs * 1000) / (performance.now() - start);
  database.close();
  return rate;
}
