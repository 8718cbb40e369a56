import type { AnyTransaction } from '../transaction.js';
import type { JobDetails, JobFilter, JobState } from './job-listing.js';
import type { Job } from './job-queue.js';

/** A job to be stored, with all that is known of it. */
export interface StoredJob {
  readonly kind: string;
  readonly payload: string;
  readonly createdAt: number;
  readonly runAt: number;
  readonly giveUpAt: number;
  readonly attempts: number;
  readonly reason: string | undefined;
}

/** A job that this process may run until its lease ends. */
export interface ClaimedJob {
  readonly job: Job;
  readonly lastReason: string | undefined;
  /** Together with the id, names this claim: whoever claims the job later gets another one. */
  readonly fence: number;
}

/** What becomes of a claimed job in the table: it goes, or it waits again. */
export interface Settlement {
  readonly claim: ClaimedJob;
  readonly next: { readonly runAt: number; readonly reason: string } | undefined;
}

export type LivingState = Exclude<JobState, 'dead'>;

export interface TallyOptions {
  readonly limit: number;
  readonly runningHere: number;
}

/** Where the living jobs are kept: what differs between the backends, and nothing else. */
export interface JobEngine {
  /** Must be called before jobs of these kinds are claimed. */
  prepare(kinds: readonly string[]): Promise<void>;
  /** Called once, when the process starts working. */
  start(): Promise<void>;
  close(): Promise<void>;
  add(transaction: AnyTransaction, jobs: readonly StoredJob[]): Promise<void>;
  /** The oldest due jobs, now leased by this process. */
  claim(kind: string, limit: number): Promise<ClaimedJob[]>;
  /** Answers the ids of the jobs that still were this process's; nothing is changed about the others. */
  settle(transaction: AnyTransaction, settlements: readonly Settlement[]): Promise<ReadonlySet<string>>;
  /** Lengthens the leases. */
  renew(claims: readonly ClaimedJob[]): Promise<void>;
  /** Ends the leases, so that the jobs can be claimed at once. */
  release(claims: readonly ClaimedJob[]): Promise<void>;
  /** Makes the jobs claimable whose lease has ended. */
  takeOver(): Promise<void>;
  /** When the next job of these kinds becomes due that was not due at `since`; `undefined` when none waits. */
  nextRunAt(kinds: readonly string[], since: number): Promise<number | undefined>;

  countLiving(): Promise<{ kind: string; state: LivingState; count: number }[]>;
  /** How many jobs of a kind are in each state, counted up to `limit`; this process runs `runningHere` of them. */
  tallyLiving(kind: string, options: TallyOptions): Promise<Record<LivingState, number>>;
  listLiving(filter: JobFilter & { readonly limit: number }): Promise<JobDetails[]>;
  find(id: string): Promise<JobDetails | undefined>;
  /** Makes a waiting job due now; false when it is not waiting. */
  hasten(id: string): Promise<boolean>;
  /** The ids of jobs of a kind that are not due at `since` yet, the next one first. */
  waitingSince(kind: string, since: number, limit: number): Promise<string[]>;
  /** Makes waiting jobs of a kind due at these instants, where that is sooner. */
  bringForward(kind: string, jobs: readonly { readonly id: string; readonly runAt: number }[]): Promise<void>;
  /** Removes a waiting job; false when it is not waiting. */
  remove(id: string): Promise<boolean>;
  /** Called when dead letters came from another database: no new job may get the id of one of them. */
  avoidIdsOfDeadJobs(db: object): Promise<void>;
  /** All living jobs, in pages; a running one counts as waiting. */
  exportAll(db: object): AsyncIterable<readonly StoredJob[]>;
}

/** How long a claim lasts without being renewed; then the job is somebody else's. */
export const leaseMilliseconds = 20_000;
export const renewalMilliseconds = 5_000;
