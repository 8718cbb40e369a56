import type { Job } from './job-queue.js';

/** A job to be stored. Instants in Unix milliseconds. */
export interface StoredJob {
  readonly kind: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly runAt: number;
  readonly giveUpAt: number;
  readonly reason: string | undefined;
}

/** A job that this process may run until its lease ends. */
export interface ClaimedJob {
  readonly job: Job;
  readonly lastReason: string | undefined;
}

/** What becomes of a claimed job in the table: it goes, or it waits again. */
export interface Settlement {
  readonly claim: ClaimedJob;
  readonly next: { readonly runAt: number; readonly reason: string } | undefined;
}

/** How long a claim lasts without being renewed; then the job is somebody else's. */
export const leaseMilliseconds = 20_000;
export const renewalMilliseconds = 5_000;
