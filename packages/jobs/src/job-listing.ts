import type { RowFilter } from '@waxwing/storage';

/**
 * State of a job. `due`: runs as soon as a slot is free. `waiting`: the start time is in the future. `running`: has a
 * lease. `dead`: was given up.
 */
export type JobState = 'due' | 'waiting' | 'running' | 'dead';

export const jobStates: readonly JobState[] = ['due', 'waiting', 'running', 'dead'];

/** A job in a listing. Instants are in Unix milliseconds. */
export interface JobSummary {
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  readonly attempts: number;
  readonly createdAt: number;
  /** When the job runs next; for a running job, when it was due; for a dead job, when it was given up. */
  readonly at: number;
  readonly giveUpAt: number;
  /** Why the last attempt failed; `undefined` if no attempt has failed. */
  readonly reason: string | undefined;
}

/** A job with its payload, which may contain secrets. */
export interface JobDetails extends JobSummary {
  readonly payload: string;
}

/** A job's position in the list. Dead jobs come before other jobs that were created in the same millisecond. */
export type JobPosition = Pick<JobSummary, 'createdAt' | 'id' | 'state'>;

/** Filter for a list of jobs. An absent field matches every job. */
export interface JobFilter {
  readonly state?: JobState | undefined;
  readonly kind?: string | undefined;
  /** Only jobs that come after this job in the list. */
  readonly after?: JobPosition | undefined;
  /** Maximum number of jobs; default: 100. */
  readonly limit?: number;
}

/** Filter for a list of jobs in pages. Default limit: all jobs. */
export interface JobPagesFilter extends RowFilter, Pick<JobFilter, 'state' | 'kind'> {}

/** The number of jobs of one kind, by state. */
export interface JobKindCounts extends Readonly<Record<JobState, number>> {
  readonly kind: string;
}
