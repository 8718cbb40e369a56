import type { JobQueue } from '@waxwing/jobs';
import { DurableJobQueue } from '#jobs/durable-job-queue.js';
import type { JobRunner } from '#jobs/job-runner.js';

/** Resolves when nothing that is due now and that a queue, once started, has a handler for is left undone. */
export async function idle<Tables>(jobs: JobQueue<Tables>): Promise<void> {
  if (!(jobs instanceof DurableJobQueue)) throw new TypeError('these jobs are kept in no database');
  const { leases, runner } = jobs;
  await runner.renewal.renew();
  await leases.takeOver();
  // What is under way may have looked at the schedules before the clock was where it is now.
  await ended(runner);
  runner.wake();
  await ended(runner);
}

/** What ends may begin something else. */
async function ended(runner: Pick<JobRunner, 'inFlight'>): Promise<void> {
  while (runner.inFlight.length > 0) await Promise.all(runner.inFlight);
}
