import type { Job } from './job-queue.js';

/** A job to store. Instants are in Unix milliseconds. */
export interface StoredJob {
  readonly kind: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly runAt: number;
  readonly giveUpAt: number;
  readonly reason: string | undefined;
}

/** A job that this process may run until its lease expires. */
export interface ClaimedJob {
  readonly job: Job;
  /** When the job was due, in Unix milliseconds. */
  readonly runAt: number;
  readonly lastReason: string | undefined;
}

/** How to settle a claimed job: reschedule it according to `next`, or delete it if `next` is `undefined`. */
export interface Settlement {
  readonly claim: ClaimedJob;
  readonly next: { readonly runAt: number; readonly reason: string } | undefined;
}

/** Duration of a lease. Any process may take over a job with an expired lease. */
export const leaseMilliseconds = 20_000;
export const renewalMilliseconds = 5_000;
