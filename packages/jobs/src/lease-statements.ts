import type { Transaction } from 'kysely';
import type { JobRow, JobTables } from './job-tables.js';
import type { Settlement, StoredJob } from './lease.js';

interface ClaimOptions {
  readonly kind: string;
  /** Maximum number of jobs to claim. */
  readonly limit: number;
  /** Claims jobs due by this instant, in Unix milliseconds. */
  readonly now: number;
  readonly leasedUntil: number;
}

export type SettledClaim = Pick<JobRow, 'id' | 'attempt'>;

/**
 * Frequent statements on the lease table, implemented separately for SQLite and PostgreSQL. The two databases share all
 * other statements.
 */
export interface LeaseStatements {
  insert(db: Transaction<JobTables>, jobs: readonly StoredJob[]): Promise<void>;
  /** Leases the oldest due jobs without a lease. Resolves to these jobs in no particular order. */
  claim(db: Transaction<JobTables>, options: ClaimOptions): Promise<readonly JobRow[]>;
  /**
   * Deletes finished jobs, and puts back jobs to retry. Resolves to the claims that were still valid. A job that was
   * claimed again in the meantime stays unchanged.
   */
  settle(db: Transaction<JobTables>, settlements: readonly Settlement[]): Promise<readonly SettledClaim[]>;
}
