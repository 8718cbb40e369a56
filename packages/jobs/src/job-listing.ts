/** `due` and `waiting` differ only in whether the instant to run has come. */
export type JobState = 'due' | 'waiting' | 'running' | 'dead';

export const jobStates: readonly JobState[] = ['due', 'waiting', 'running', 'dead'];

/** A job as operators see it. Instants in Unix milliseconds. */
export interface JobSummary {
  readonly id: string;
  readonly kind: string;
  readonly state: JobState;
  readonly attempts: number;
  readonly createdAt: number;
  /** When it runs next, or was to run when it was started; for a dead job, when it died. */
  readonly at: number;
  readonly giveUpAt: number;
  /** Why the last attempt failed; `undefined` when none did. */
  readonly reason: string | undefined;
}

export interface JobDetails extends JobSummary {
  readonly payload: string;
}

export interface JobFilter {
  readonly state?: JobState;
  readonly kind?: string;
  /** How many at most; 100 where nothing is said. */
  readonly limit?: number;
}

export interface JobKindCounts extends Readonly<Record<JobState, number>> {
  readonly kind: string;
}
