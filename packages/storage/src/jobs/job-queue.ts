import type { AnyTransaction } from '../transaction.js';

export interface NewJob {
  /** Which handler does it. */
  readonly kind: string;
  /** What the handler needs to know, as text (JSON, say). */
  readonly payload: string;
  /** Earliest start, in Unix milliseconds; at once where nothing is said. */
  readonly runAt?: number;
  /** When to give up, in Unix milliseconds. */
  readonly giveUpAt: number;
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
export type ApplyOutcome = (transaction: AnyTransaction) => Promise<void>;

export type JobOutcome =
  | { readonly kind: 'done'; readonly apply?: ApplyOutcome }
  /** Try again at `at` (Unix milliseconds). `reason` is for people. */
  | { readonly kind: 'retry'; readonly at: number; readonly reason: string; readonly apply?: ApplyOutcome }
  /** Never try again; the job is kept as a dead letter with its reason. */
  | { readonly kind: 'dead'; readonly reason: string; readonly apply?: ApplyOutcome };

export interface JobHandler {
  /** How many jobs of this kind run at once in this process. */
  readonly concurrency: number;
  /** One attempt. It may be repeated after a crash, so its effects must bear that. A throw is a retry with back-off. */
  run(job: Job, signal: AbortSignal): Promise<JobOutcome>;
  /** The time to give up has come: what must change with it. `reason` is that of the last attempt. */
  giveUp(job: Job, reason: string): ApplyOutcome;
}

export interface DeadJob {
  readonly id: string;
  readonly kind: string;
  readonly payload: string;
  readonly reason: string;
  readonly attempts: number;
  readonly diedAt: number;
}

/** Durable work: done at least once, retried at given instants, given up at a given instant, then kept as a dead letter. */
export interface JobQueue {
  /** Adds a job within the caller's transaction: it exists if and only if that commits. */
  enqueue(transaction: AnyTransaction, job: NewJob): Promise<void>;
  /** Says who does jobs of a kind; call it before {@link start}. */
  handle(kind: string, handler: JobHandler): void;
  /** Starts working. */
  start(): Promise<void>;
  /** Resolves when nothing that is due now is left undone. For tests and for draining. */
  idle(): Promise<void>;
  /** Stops taking jobs, aborts what still runs after `deadlineMilliseconds`, and hands it back. */
  stop(deadlineMilliseconds: number): Promise<void>;
}
