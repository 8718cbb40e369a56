import type { AnyTransaction, WriteTransaction } from '@waxwing/storage';
import type { JobDetails, JobFilter, JobKindCounts, JobSummary } from './job-listing.js';

/** A job to enqueue. */
export interface NewJob {
  /** Selects the handler: 1 to 200 letters, digits, `_`, `-`, `.` and `/`. */
  readonly kind: string;
  /** Input of the handler, such as JSON. Must hold no NUL and no unpaired surrogate. */
  readonly payload: string;
  /** Earliest start, in Unix milliseconds; default: now. */
  readonly runAt?: number;
  /** When to give up and keep the job as a dead letter, in Unix milliseconds. */
  readonly giveUpAt: number;
  /** Why an earlier attempt failed, for operators, if this job continues it. */
  readonly reason?: string;
}

/** A job in the form that its handler receives. Instants are in Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  /** 1 on the first attempt. */
  readonly attempt: number;
  readonly createdAt: number;
  readonly giveUpAt: number;
}

/** Writes changes in the transaction that records the outcome, so that both commit or neither does. */
export type ApplyOutcome<Tables> = (transaction: WriteTransaction<Tables>) => Promise<void>;

/** The result of an attempt. `apply` writes changes that commit together with it. */
export type JobOutcome<Tables> =
  | { readonly kind: 'done'; readonly apply?: ApplyOutcome<Tables> }
  /** Retry at `at` (Unix milliseconds), for `reason`, which operators read. */
  | {
      readonly kind: 'retry';
      readonly at: number;
      readonly reason: string;
      readonly apply?: ApplyOutcome<Tables>;
    }
  /** Give up: the job becomes a dead letter with this reason. */
  | { readonly kind: 'dead'; readonly reason: string; readonly apply?: ApplyOutcome<Tables> };

/** Runs the jobs of one kind. */
export interface JobHandler<Tables> {
  /** Concurrency limit of this kind in this process. */
  readonly concurrency: number;
  /**
   * Makes one attempt. Must be idempotent: an attempt may be repeated after a crash. If it throws, the job is retried with
   * exponential backoff. If it throws after `signal` was aborted (shutdown), the job is handed back at once.
   */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome<Tables>>;
  /**
   * Called when `giveUpAt` has passed. Returns the changes to commit with the dead letter. `reason` is from the last
   * attempt.
   */
  giveUp(job: Job, reason: string): ApplyOutcome<Tables>;
}

/** A period of a schedule. */
export interface SchedulePeriod {
  /**
   * Whether the previous period ended less than a period before this one began. False in the first period, after a long
   * pause of all processes, and after the clock was set.
   */
  readonly isContinued: boolean;
}

/** Periodic work. Must be idempotent. */
export type ScheduledWork = (signal: AbortSignal, period: SchedulePeriod) => Promise<void>;

/**
 * Durable job queue with at-least-once execution. A job is retried when its handler says so, until `giveUpAt`; then it is
 * kept as a dead letter for 14 days. Any number of processes share the queue of one database. Jobs of a crashed process
 * are taken over within half a minute. Clocks must agree to a few seconds, or jobs are taken over too early and run
 * twice.
 */
export interface JobQueue<Tables> {
  /**
   * Adds a job within the caller's transaction: it exists if and only if that commits. Rejects with a TypeError for a
   * kind or payload that cannot be stored.
   */
  enqueue(transaction: AnyTransaction, job: NewJob): Promise<void>;
  /** Registers the handler for a kind. Call it before {@link start}. */
  handle(kind: string, handler: JobHandler<Tables>): void;
  /**
   * Runs `work` once per period across all processes, for the first time when a process first starts. A failed run is
   * retried until the period ends. Call it before {@link start}.
   */
  schedule(name: string, everyMilliseconds: number, work: ScheduledWork): void;
  /** Starts to run jobs. Rejects with a DatabaseUnusableError if the database was not opened with the role `serving`. */
  start(): Promise<void>;
  /**
   * Shuts down: claims no more jobs, waits `deadlineMilliseconds` for jobs in flight, then aborts them and hands them
   * back.
   */
  stop(deadlineMilliseconds: number): Promise<void>;

  /**
   * Counts jobs by kind, for metrics: the kinds that this process handles, and kinds with dead letters. No count
   * exceeds 10,000, which bounds the cost.
   */
  tally(): Promise<JobKindCounts[]>;
  /**
   * The start time (Unix milliseconds) of the job that has been due for longest, among the kinds that this process
   * handles. Resolves to `undefined` if none is due.
   */
  oldestDueAt(): Promise<number | undefined>;
  /** Lists jobs, the oldest first. */
  list(filter: JobFilter): Promise<JobSummary[]>;
  /** Finds a job by its id. Resolves to `undefined` if there is none. */
  show(id: string): Promise<JobDetails | undefined>;
  /**
   * Makes a waiting job due now, or enqueues a dead one again with its original lifetime. Resolves to false if there is no
   * such job or it is running. `alongside` writes in the transaction that brings a dead job back; for a waiting job, in one
   * that follows.
   */
  retry(id: string, alongside?: (transaction: AnyTransaction) => Promise<void>): Promise<boolean>;
  /**
   * Deletes a waiting or dead job. Resolves to false if there is no such job or it is running. `alongside` writes in the
   * transaction that deletes a dead job; for a waiting job, in one that follows.
   */
  drop(id: string, alongside?: (transaction: AnyTransaction) => Promise<void>): Promise<boolean>;
  /**
   * Reschedules waiting jobs of a kind after an outage: the first runs now and the others at intervals of
   * `everyMilliseconds`, which avoids a thundering herd. Delays no job. Moves the 10,000 earliest jobs; the others keep
   * their start times. `failedOnly` skips jobs that have not been tried yet: their delay is deliberate.
   */
  bringForward(
    kind: string,
    everyMilliseconds: number,
    options?: { readonly failedOnly?: boolean },
  ): Promise<void>;
}
