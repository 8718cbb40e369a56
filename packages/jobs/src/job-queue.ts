import type { AnyTransaction, WriteTransaction } from '@waxwing/storage';
import type { JobDetails, JobFilter, JobKindCounts, JobPagesFilter, JobSummary } from './job-listing.js';

/** A job to enqueue. */
export interface NewJob {
  /** Selects the handler: 1 to 200 letters, digits, `_`, `-`, `.` and `/`. */
  readonly kind: string;
  /** Input of the handler, such as JSON. Must not contain NUL or an unpaired surrogate. */
  readonly payload: string;
  /** Earliest start, in Unix milliseconds; default: now. */
  readonly runAt?: number;
  /** When to give up and keep the job as a dead letter, in Unix milliseconds. */
  readonly giveUpAt: number;
  /** If this job continues an earlier job: why the earlier job's last attempt failed. Shown to operators. */
  readonly reason?: string;
}

/** A job, as passed to its handler. Instants are in Unix milliseconds. */
export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  /** 1 on the first attempt. */
  readonly attempt: number;
  readonly createdAt: number;
  readonly giveUpAt: number;
}

/** Writes changes in the transaction that records the outcome: both commit, or neither does. */
export type ApplyOutcome<Tables> = (transaction: WriteTransaction<Tables>) => Promise<void>;

/** The outcome of an attempt. The changes made by `apply` commit together with the outcome. */
export type JobOutcome<Tables> =
  | { readonly kind: 'done'; readonly apply?: ApplyOutcome<Tables> }
  /** The job runs again at `at` (Unix milliseconds). `reason` is shown to operators. */
  | {
      readonly kind: 'retry';
      readonly at: number;
      readonly reason: string;
      readonly apply?: ApplyOutcome<Tables>;
    }
  /** The job becomes a dead letter with this reason. */
  | { readonly kind: 'dead'; readonly reason: string; readonly apply?: ApplyOutcome<Tables> };

/** Runs the jobs of one kind. */
export interface JobHandler<Tables> {
  /** Concurrency limit of this kind in this process. */
  readonly concurrency: number;
  /**
   * Makes one attempt. Must be idempotent, because an attempt may be repeated after a crash. If it throws, the job is
   * retried with exponential backoff. If it throws after `signal` was aborted at shutdown, the job is released
   * immediately, so that another process can run it.
   */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome<Tables>>;
  /**
   * Called when `giveUpAt` has passed. Returns the changes to commit with the dead letter. `reason` says why the last
   * attempt failed.
   */
  giveUp(job: Job, reason: string): ApplyOutcome<Tables>;
}

/** A period of a schedule. */
export interface SchedulePeriod {
  /**
   * Whether this period directly follows the previous one, which ended less than a period ago. False in the first
   * period, after all processes were down for a while, and after a clock change.
   */
  readonly isContinued: boolean;
}

/** Work to do once per period. Must be idempotent. */
export type ScheduledWork = (signal: AbortSignal, period: SchedulePeriod) => Promise<void>;

/**
 * Durable job queue with at-least-once execution. A job whose handler requests a retry runs again until `giveUpAt`.
 * Then it becomes a dead letter, which is kept for 14 days. Any number of processes can share the queue of one
 * database. If a process crashes, others take over its jobs within half a minute. The clocks of the processes must
 * agree within a few seconds; otherwise jobs are taken over too early and run twice.
 */
export interface JobQueue<Tables> {
  /**
   * Adds a job in the caller's transaction: the job exists only if the transaction commits. Rejects with a TypeError if
   * the kind or payload cannot be stored.
   */
  enqueue(transaction: AnyTransaction, job: NewJob): Promise<void>;
  /** Registers the handler for a kind. Call it before {@link start}. */
  handle(kind: string, handler: JobHandler<Tables>): void;
  /**
   * Runs `work` once per period across all processes. The first period begins when a process first starts. A failed run
   * is retried until its period ends. Call this before {@link start}.
   */
  schedule(name: string, everyMilliseconds: number, work: ScheduledWork): void;
  /**
   * Starts running jobs. Rejects with a DatabaseUnusableError if the database was not opened with the role `serving`.
   */
  start(): Promise<void>;
  /**
   * Shuts down gracefully: claims no more jobs, waits up to `deadlineMilliseconds` for jobs in flight, then aborts the
   * remaining jobs and releases them.
   */
  stop(deadlineMilliseconds: number): Promise<void>;

  /**
   * Counts jobs by kind, for metrics. Covers the kinds that this process handles and the kinds with dead letters. Each
   * count stops at 10,000, which bounds the cost.
   */
  tally(): Promise<JobKindCounts[]>;
  /**
   * Resolves to the start time (Unix milliseconds) of the job that has been due the longest, among the kinds that this
   * process handles. Resolves to `undefined` if no job is due.
   */
  oldestDueAt(): Promise<number | undefined>;
  /** Lists jobs, oldest first. */
  list(filter: JobFilter): Promise<JobSummary[]>;
  /** Yields pages of jobs, oldest first. The filter's text is searched for in id, kind and reason. */
  pages(filter: JobPagesFilter): AsyncGenerator<JobSummary[]>;
  /** Finds a job by its id. Resolves to `undefined` if there is no such job. */
  show(id: string): Promise<JobDetails | undefined>;
  /**
   * Makes a waiting job due now, or enqueues a dead job again with its original lifetime. `alongside` writes in the
   * same transaction. Resolves to false if there is no such job or if it is running.
   */
  retry(id: string, alongside?: (transaction: AnyTransaction) => Promise<void>): Promise<boolean>;
  /**
   * Deletes a waiting or dead job. `alongside` writes in the same transaction. Resolves to false if there is no such
   * job or if it is running.
   */
  drop(id: string, alongside?: (transaction: AnyTransaction) => Promise<void>): Promise<boolean>;
  /**
   * Reschedules waiting jobs of a kind after an outage. The first runs now and the others at intervals of
   * `everyMilliseconds`, which avoids a thundering herd. No job is delayed. Only the 10,000 earliest jobs are moved.
   * `failedOnly` skips jobs that have not been tried yet, because their delay is deliberate.
   */
  bringForward(
    kind: string,
    everyMilliseconds: number,
    options?: { readonly failedOnly?: boolean },
  ): Promise<void>;
}
