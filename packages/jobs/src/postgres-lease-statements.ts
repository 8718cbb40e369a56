import { sql } from 'kysely';
import type { JobRow } from './job-tables.js';
import type { LeaseStatements, SettledClaim } from './lease-statements.js';

/**
 * Lease statements for PostgreSQL. One statement handles a whole batch. With `skip locked`, processes claim different
 * jobs without waiting for each other.
 */
export const postgresLeaseStatements: LeaseStatements = {
  async insert(db, jobs) {
    await sql`
      insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, last_reason)
      select kind, payload, created_at, run_at, give_up_at, 0, last_reason from unnest(
        ${jobs.map(({ kind }) => kind)}::text[], ${jobs.map(({ payload }) => payload)}::text[],
        ${jobs.map(({ createdAt }) => createdAt)}::bigint[], ${jobs.map(({ runAt }) => runAt)}::bigint[],
        ${jobs.map(({ giveUpAt }) => giveUpAt)}::bigint[], ${jobs.map(({ reason }) => reason ?? null)}::text[]
      ) as new (kind, payload, created_at, run_at, give_up_at, last_reason)`.execute(db);
  },

  async claim(db, { kind, limit, now, leasedUntil }) {
    const { rows } = await sql<JobRow>`
      update jobs set leased_until = ${leasedUntil}, attempt = attempt + 1
      where id in (
        select id from jobs where kind = ${kind} and run_at <= ${now} and leased_until is null
        order by run_at, id limit ${limit} for update skip locked)
      returning *`.execute(db);
    return rows;
  },

  async settle(db, settlements) {
    const gone = settlements.filter(({ next }) => next === undefined).map(({ claim }) => claim.job);
    const waiting = settlements.flatMap(({ claim, next }) =>
      next === undefined ? [] : [{ ...claim.job, next }],
    );
    const settled: SettledClaim[] = [];
    if (gone.length > 0) {
      const { rows } = await sql<SettledClaim>`
        delete from jobs using unnest(${gone.map(({ id }) => id)}::bigint[],
          ${gone.map(({ attempt }) => attempt)}::bigint[]) as settled (id, attempt)
        where jobs.id = settled.id and jobs.attempt = settled.attempt returning jobs.id, jobs.attempt`.execute(
        db,
      );
      settled.push(...rows);
    }
    if (waiting.length > 0) {
      const { rows } = await sql<SettledClaim>`
        update jobs set run_at = settled.run_at, leased_until = null, last_reason = settled.reason
        from unnest(${waiting.map(({ id }) => id)}::bigint[], ${waiting.map(({ attempt }) => attempt)}::bigint[],
          ${waiting.map(({ next }) => next.runAt)}::bigint[], ${waiting.map(({ next }) => next.reason)}::text[]
        ) as settled (id, attempt, run_at, reason)
        where jobs.id = settled.id and jobs.attempt = settled.attempt returning jobs.id, jobs.attempt`.execute(
        db,
      );
      settled.push(...rows);
    }
    return settled;
  },
};
