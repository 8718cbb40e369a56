import type { JobHandler } from './job-queue.js';
import type { JobTables } from './job-tables.js';
import type { ClaimedJob } from './lease.js';

/** The jobs of one kind that this process has leased. */
export interface KindOfWork {
  readonly handler: JobHandler<JobTables>;
  /** By the job's id. */
  readonly running: Map<string, Running>;
  /** By the job's id: leased here, and without a place yet, as two transactions have found the same room. */
  readonly waiting: Map<string, ClaimedJob>;
}

/** One that runs, or whose outcome is being recorded. */
export interface Running {
  claim: ClaimedJob;
  /** Whether it has run and only its outcome is still to be recorded: its place is free already. */
  isEnding: boolean;
  done: Promise<void>;
}

/** All that is leased, to be renewed, or handed back in the end. */
export function claimsOf({ running, waiting }: KindOfWork): ClaimedJob[] {
  return [...[...running.values()].map(({ claim }) => claim), ...waiting.values()];
}

/** How many more jobs may be leased. */
export function roomOf(work: KindOfWork): number {
  return placesOf(work) - work.waiting.size;
}

/** How many more jobs may run: those that are ending leave their places, until as many of them are still unrecorded. */
export function placesOf({ handler, running }: KindOfWork): number {
  let free = handler.concurrency;
  for (const { isEnding } of running.values()) if (!isEnding) free -= 1;
  return Math.min(free, 2 * handler.concurrency - running.size);
}
