import type { DatabaseWithJobs, Job, JobHandler, JobOutcome, NewJob } from '@waxwing/jobs';
import type { TestBackend } from './test-databases.js';

export interface Clock {
  now: number;
}

export const start = 1_800_000_000_000;

export function open(backend: TestBackend, clock: Clock, url?: string): Promise<DatabaseWithJobs<unknown>> {
  return backend.open({ migrations: [], now: () => clock.now, ...(url === undefined ? {} : { url }) });
}

export function handler(
  run: (job: Job, signal: AbortSignal) => Promise<JobOutcome<unknown>>,
  concurrency = 2,
): JobHandler<unknown> {
  return { concurrency, run, giveUp: () => async () => {} };
}

/** A handler that only records its jobs. */
export function recorder(done: string[]): JobHandler<unknown> {
  return handler(async ({ payload }) => {
    done.push(payload);
    return { kind: 'done' };
  });
}

export function add(
  database: DatabaseWithJobs<unknown>,
  payload: string,
  more: Partial<NewJob> = {},
): Promise<void> {
  return database.write((transaction) =>
    database.jobs.enqueue(transaction, { kind: 'k', payload, giveUpAt: start + 1_000_000, ...more }),
  );
}

export async function countsOf(database: DatabaseWithJobs<unknown>, kind = 'k') {
  const jobs = await database.jobs.list({ kind, limit: 10_000 });
  if (jobs.length === 0) return undefined;
  const counts = { kind, due: 0, waiting: 0, running: 0, dead: 0 };
  for (const { state } of jobs) counts[state] += 1;
  return counts;
}

export async function onlyJob(database: DatabaseWithJobs<unknown>) {
  const [job] = await database.jobs.list({ kind: 'k' });
  if (job === undefined) throw new Error('no job is queued');
  return job;
}
