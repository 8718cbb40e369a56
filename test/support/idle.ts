import type { JobQueue } from '@waxwing/jobs';
import { DurableJobQueue } from '#jobs/durable-job-queue.js';
import type { JobRunner } from '#jobs/job-runner.js';

/** Resolves when no due job with a handler is left. */
export async function idle<Tables>(jobs: JobQueue<Tables>): Promise<void> {
  if (!(jobs instanceof DurableJobQueue)) throw new TypeError('the jobs are not stored in a database');
  const { leases, runner } = jobs;
  await runner.renewal.renew();
  await leases.takeOver();
  // Waits twice: a schedule check that was already in progress may have read the clock too early.
  await ended(runner);
  runner.wake();
  await ended(runner);
}

/** Waits until no job is in flight. Repeats, because a finished job may have started another. */
async function ended(runner: Pick<JobRunner, 'inFlight'>): Promise<void> {
  while (runner.inFlight.length > 0) await Promise.all(runner.inFlight);
}
