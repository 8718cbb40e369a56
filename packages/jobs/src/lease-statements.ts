import type { Transaction } from 'kysely';
import type { JobRow, JobTables } from './job-tables.js';
import type { Settlement, StoredJob } from './lease.js';

interface ClaimOptions {
  readonly kind: string;
  /** The most jobs to claim. */
  readonly limit: number;
  /** What was due by then, in Unix milliseconds. */
  readonly now: number;
  readonly leasedUntil: number;
}

/** The busiest statements on the lease table, written for each database by itself; all others are the same for both. */
export interface LeaseStatements {
  insert(db: Transaction<JobTables>, jobs: readonly StoredJob[]): Promise<void>;
  /** Leases the oldest due jobs that nobody has, and answers them in no order. */
  claim(db: Transaction<JobTables>, options: ClaimOptions): Promise<readonly JobRow[]>;
  /**
   * Removes the claimed jobs that go and puts back those that wait again. Answers the ids of those whose claim still
   * held: a job that somebody else has claimed since stays as it is.
   */
  settle(db: Transaction<JobTables>, settlements: readonly Settlement[]): Promise<readonly number[]>;
}
