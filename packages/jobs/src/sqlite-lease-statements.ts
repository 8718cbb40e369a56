import { BulkStatement, rowsOfText } from '@waxwing/storage';
import type { LeaseStatements, SettledClaim } from './lease-statements.js';

/**
 * Lease statements for SQLite. The statements stay prepared, because compiling such short statements takes longer than
 * running them.
 */
export const sqliteLeaseStatements: LeaseStatements = {
  async insert(db, jobs) {
    const rows = jobs.map(({ kind, payload, createdAt, runAt, giveUpAt, reason }) => [
      kind,
      payload,
      createdAt,
      runAt,
      giveUpAt,
      reason ?? null,
    ]);
    await insertJobs.run(db, rows);
  },

  async claim(db, { kind, limit, now, leasedUntil }) {
    const parameters = [leasedUntil, kind, now, limit];
    return rowsOfText(db, claimJobs, parameters);
  },

  async settle(db, settlements) {
    const gone = settlements.filter(({ next }) => next === undefined);
    const waiting = settlements.filter(({ next }) => next !== undefined);
    return [
      ...(await deleteJobs.run(
        db,
        gone.map(({ claim: { job } }) => [Number(job.id), job.attempt]),
      )),
      ...(await putBackJobs.run(
        db,
        waiting.map(({ claim: { job }, next }) => [Number(job.id), job.attempt, next?.runAt, next?.reason]),
      )),
    ];
  },
};

const insertJobs = new BulkStatement(
  (rows) => `insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, last_reason)
    values ${list('(?, ?, ?, ?, ?, 0, ?)', rows)}`,
);

// `+ 0`: with a bare parameter as the limit, SQLite recompiles the statement on each execution.
const claimJobs = `update jobs set leased_until = ?, attempt = attempt + 1
  where id in (
    select id from jobs where kind = ? and run_at <= ? and leased_until is null order by run_at, id limit ? + 0)
  returning *`;

const deleteJobs = new BulkStatement<SettledClaim>(
  (rows) => `delete from jobs where (id, attempt) in (values ${list('(?, ?)', rows)}) returning id, attempt`,
);

const putBackJobs = new BulkStatement<SettledClaim>(
  (rows) => `with settled (id, attempt, run_at, reason) as (values ${list('(?, ?, ?, ?)', rows)})
    update jobs set run_at = settled.run_at, leased_until = null, last_reason = settled.reason
    from settled where jobs.id = settled.id and jobs.attempt = settled.attempt
    returning jobs.id, jobs.attempt`,
);

function list(row: string, rows: number): string {
  return Array.from({ length: rows }, () => row).join(', ');
}
