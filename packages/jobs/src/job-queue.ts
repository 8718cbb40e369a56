import type { AnyTransaction, WriteTransaction } from '@waxwing/storage';
import type { JobDetails, JobFilter, JobKindCounts, JobSummary } from './job-listing.js';

export interface NewJob {
  /** Which handler does it: letters, digits, `_`, `-`, `.` and `/`. */
  readonly kind: string;
  /** What the handler needs to know, as text (JSON, say). */
  readonly payload: string;
  /** Earliest start, in Unix milliseconds; at once where nothing is said. */
  readonly runAt?: number;
  /** When to give up, in Unix milliseconds. */
  readonly giveUpAt: number;
  /** Why it is not done yet, for people, where it was tried before. */
  readonly reason?: string;
}

export interface Job {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  /** 1 on the first attempt. */
  readonly attempt: number;
  readonly createdAt: number;
  readonly giveUpAt: number;
}

/** Changes that belong to an outcome; committed in the same transaction that records it. */
export type ApplyOutcome<Tables> = (transaction: WriteTransaction<Tables>) => Promise<void>;

export type JobOutcome<Tables> =
  | { readonly kind: 'done'; readonly apply?: ApplyOutcome<Tables> }
  /** Try again at `at` (Unix milliseconds). `reason` is for people. */
  | {
      readonly kind: 'retry';
      readonly at: number;
      readonly reason: string;
      readonly apply?: ApplyOutcome<Tables>;
    }
  /** Never try again; the job is kept as a dead letter with its reason. */
  | { readonly kind: 'dead'; readonly reason: string; readonly apply?: ApplyOutcome<Tables> };

export interface JobHandler<Tables> {
  /** How many jobs of this kind run at once in this process. */
  readonly concurrency: number;
  /**
   * One attempt. It may be repeated after a crash, so its effects must bear that. A throw is a retry with back-off;
   * once `signal` is aborted (the process is closing) it hands the job back instead.
   */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome<Tables>>;
  /** The time to give up has come: what must change with it. `reason` is that of the last attempt. */
  giveUp(job: Job, reason: string): ApplyOutcome<Tables>;
}

/** Work that is repeated; it must bear being done twice. */
export type ScheduledWork = (signal: AbortSignal) => Promise<void>;

/**
 * Durable work: done at least once, retried at given instants, given up at a given instant, then kept as a dead letter
 * for 14 days. Any number of processes on one database share it; what a dead process was doing is taken over within
 * half a minute (their clocks must agree to a few seconds, or jobs are taken over too early and done twice).
 */
export interface JobQueue<Tables> {
  /** Adds a job within the caller's transaction: it exists if and only if that commits. */
  enqueue(transaction: AnyTransaction, job: NewJob): Promise<void>;
  /** Says who does jobs of a kind; call it before {@link start}. */
  handle(kind: string, handler: JobHandler<Tables>): void;
  /**
   * Does `work` once in every period, counted over all processes, first at the first start ever. When it fails it is
   * tried again until the period ends. Call it before {@link start}.
   */
  schedule(name: string, everyMilliseconds: number, work: ScheduledWork): void;
  /** Starts working. */
  start(): Promise<void>;
  /** Stops taking jobs, aborts what still runs after `deadlineMilliseconds`, and hands it back. */
  stop(deadlineMilliseconds: number): Promise<void>;

  /**
   * How many jobs there are of each kind, for metrics: of the kinds that are done here and of those that died, and no
   * number beyond 10,000, so that it is cheap however many there are.
   */
  tally(): Promise<JobKindCounts[]>;
  /** The oldest jobs first. */
  list(filter: JobFilter): Promise<JobSummary[]>;
  /** `undefined` when there is no such job. */
  show(id: string): Promise<JobDetails | undefined>;
  /**
   * Makes a waiting job due now, or brings a dead one back as a new job with as much time as it had at first. False
   * when there is no such job or it is running.
   */
  retry(id: string): Promise<boolean>;
  /** Removes a waiting or dead job. False when there is no such job or it is running. */
  drop(id: string): Promise<boolean>;
  /**
   * For when what jobs of a kind wait for is back: makes those that wait longest due, the first one now and the others
   * `everyMilliseconds` after each other, so that they do not come all at once. None is put off; of very many the rest
   * keep their instants.
   */
  bringForward(kind: string, everyMilliseconds: number): Promise<void>;
}
