import type { JobHandler } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob } from './lease.js';

/** The handler of a kind, and the jobs of that kind that run in this process. */
export interface Work {
  readonly handler: JobHandler<JobTables>;
  /** Running jobs by job id. */
  readonly running: Map<string, Running>;
}

/** A job that runs in this process. */
export interface Running {
  claim: ClaimedJob;
  /** Whether the job has ended and only its outcome remains to be recorded. Its slot is already free. */
  isEnding: boolean;
  done: Promise<void>;
}

/**
 * Returns the number of free slots of a kind. Ending jobs take no slot, but running and ending jobs together never
 * exceed twice the concurrency limit.
 */
export function freeSlots({ handler, running }: Work): number {
  let free = handler.concurrency;
  for (const { isEnding } of running.values()) if (!isEnding) free -= 1;
  return Math.min(free, 2 * handler.concurrency - running.size);
}

/**
 * Whether a new claim of a running job is for the same attempt. True if the lease expired while the job ran, for
 * example because the clock was set forward: the job then continues under the new lease. False if the outcome was
 * already recorded and the job rescheduled: the claim is then for the next attempt. That happens if the database
 * connection was lost before this process learned of the commit.
 */
export function isContinuation({ isEnding, claim }: Running, next: ClaimedJob): boolean {
  return !isEnding && next.runAt === claim.runAt;
}
