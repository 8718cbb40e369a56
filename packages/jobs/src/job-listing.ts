/**
 * `due`: runs as soon as a slot is free. `waiting`: its start time is in the future. `running`: leased. `dead`: given up.
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
  /** When it runs next. For a running job, when it was due; for a dead job, when it died. */
  readonly at: number;
  readonly giveUpAt: number;
  /** Why the last attempt failed; `undefined` if none has. */
  readonly reason: string | undefined;
}

/** A job with its payload, which may hold secrets. */
export interface JobDetails extends JobSummary {
  readonly payload: string;
}

/** Which jobs to list. An absent field matches every job. */
export interface JobFilter {
  readonly state?: JobState;
  readonly kind?: string;
  /** Only jobs after this one in the list, which must be dead ones (`state: 'dead'`). */
  readonly after?: Pick<JobSummary, 'createdAt' | 'id'>;
  /** Maximum number of jobs; default: 100. */
  readonly limit?: number;
}

/** The number of jobs of one kind, by state. */
export interface JobKindCounts extends Readonly<Record<JobState, number>> {
  readonly kind: string;
}
