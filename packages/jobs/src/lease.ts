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
  /** When it was due, in Unix milliseconds. */
  readonly runAt: number;
  readonly lastReason: string | undefined;
}

/** How to settle a claimed job: put it back for `next`, or delete it if that is undefined. */
export interface Settlement {
  readonly claim: ClaimedJob;
  readonly next: { readonly runAt: number; readonly reason: string } | undefined;
}

/** Duration of a lease. An expired one may be taken over by any process. */
export const leaseMilliseconds = 20_000;
export const renewalMilliseconds = 5_000;
