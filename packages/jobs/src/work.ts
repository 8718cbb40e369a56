import type { JobHandler } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob } from './lease.js';

/** The handler of a kind, and the jobs of that kind that this process runs. */
export interface Work {
  readonly handler: JobHandler<JobTables>;
  /** By job id. */
  readonly running: Map<string, Running>;
}

/** A job that this process runs. */
export interface Running {
  claim: ClaimedJob;
  /** Whether the job is done and only its outcome remains to be recorded. Its slot is already free. */
  isEnding: boolean;
  done: Promise<void>;
}

/** Free slots of a kind. Ending jobs do not count, but running and ending jobs together never exceed twice the limit. */
export function freeSlots({ handler, running }: Work): number {
  let free = handler.concurrency;
  for (const { isEnding } of running.values()) if (!isEnding) free -= 1;
  return Math.min(free, 2 * handler.concurrency - running.size);
}

/**
 * Whether a new claim of a running job is for the same attempt. That is so if its lease expired while it ran, for
 * example because the clock was set forward: the job continues under the new lease. If the outcome was recorded, which
 * reschedules the job, the claim is for the next attempt, which has its own outcome. The connection may have been lost
 * before this process learned that.
 */
export function isContinuation({ isEnding, claim }: Running, next: ClaimedJob): boolean {
  return !isEnding && next.runAt === claim.runAt;
}
