import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { JobTables } from '#jobs/job-tables.js';
import type { ClaimedJob } from '#jobs/lease.js';
import { LeaseTable } from '#jobs/lease-table.js';
import { LivingJobs } from '#jobs/living-jobs.js';
import { start } from '../support/job-queue-under-test.js';
import { whileLocked } from '../support/lock-waits.js';
import { eachPostgres } from '../support/test-databases.js';

const job = {
  kind: 'k',
  payload: '',
  createdAt: start,
  runAt: start,
  giveUpAt: start + 1_000_000,
  reason: undefined,
};

type Act = (leases: LeaseTable, claims: readonly ClaimedJob[]) => Promise<void>;

eachPostgres((backend) => {
  it.each<[string, Act]>([
    ['renewing leases', (leases, claims) => leases.renew(claims)],
    ['releasing leases', (leases, claims) => leases.release(claims)],
    ['taking over expired leases', (leases) => leases.takeOver()],
  ])('%s skips jobs that are being settled, which prevents a deadlock', async (_, act) => {
    const database = await backend.open<JobTables>({ migrations: [] });
    const { db } = database;
    const clock = { now: start };
    const leases = new LeaseTable({ database, now: () => clock.now });
    await database.write((transaction) => leases.add(transaction, [job, job, job]));
    const claims = await leases.claim('k', 3);
    const [low, middle, high] = claims.map((claim) => Number(claim.job.id)) as [number, number, number];
    const leasedUntil = async () => {
      const rows = await db.selectFrom('jobs').select(['id', 'leased_until']).orderBy('id').execute();
      return rows.map(({ id, leased_until }) => [id, leased_until]);
    };
    const before = await leasedUntil();
    clock.now += 60_000;
    await whileLocked(
      db,
      (transaction) => transaction.deleteFrom('jobs').where('id', '=', high).execute(),
      () => act(leases, claims),
      async (transaction) => {
        // `act` skipped the locked job, changed the other leases, and does not hold locks on them.
        expect(await leasedUntil()).not.toEqual(before);
        await transaction.deleteFrom('jobs').where('id', '=', low).execute();
      },
    );
    expect(await leasedUntil()).toEqual([[middle, expect.toSatisfy((until) => until !== before[1]?.[1])]]);
  });

  it('settling jobs in any order does not deadlock with a concurrent renewal, release or takeover', async () => {
    const database = await backend.open<JobTables>({ migrations: [], connections: 6 });
    // Runs the statement without retries, which would hide a deadlock.
    const writeStatement: typeof database.writeStatement = (statement) => statement(database.db);
    const leases = new LeaseTable({ database: { ...database, writeStatement }, now: () => start });
    for (let round = 0; round < 20; round++) {
      await database.write((transaction) => leases.add(transaction, Array(60).fill(job)));
      const claims = await leases.claim('k', 60);
      const settle = (some: readonly ClaimedJob[], next?: { runAt: number; reason: string }) =>
        database.db.transaction().execute(async (transaction) => {
          for (const claim of some) await leases.settle(transaction, [{ claim, next }]);
        });
      const even = claims.filter((_, index) => index % 2 === 0);
      const odd = claims.filter((_, index) => index % 2 === 1);
      await Promise.all([
        settle(even.toReversed()),
        settle(odd, { runAt: start, reason: 'busy' }),
        leases.renew(claims),
        leases.renew(claims.toReversed()),
        leases.takeOver(),
        leases.release(odd),
      ]);
      const left = await database.db.deleteFrom('jobs').returning('id').execute();
      expect(new Set(left.map(({ id }) => String(id)))).toEqual(new Set(odd.map((claim) => claim.job.id)));
    }
  });

  it('bringing jobs forward locks them in id order, regardless of when they are due', async () => {
    const database = await backend.open<JobTables>({ migrations: [] });
    const { db } = database;
    const leases = new LeaseTable({ database, now: () => start });
    await database.write((transaction) =>
      leases.add(transaction, [
        { ...job, runAt: start + 2000 },
        { ...job, runAt: start + 1000 },
      ]),
    );
    const rows = await db.selectFrom('jobs').select('id').orderBy('id').execute();
    const [low, high] = rows.map(({ id }) => id) as [number, number];
    const jobs = new LivingJobs(database, () => start);
    await whileLocked(
      db,
      (transaction) => transaction.deleteFrom('jobs').where('id', '=', low).execute(),
      () => jobs.bringForward({ kind: 'k', from: start, everyMilliseconds: 10, limit: 10 }),
      // `bringForward` waits for the row with the lower id, and has not locked the other row yet.
      (transaction) => sql`select id from jobs where id = ${high} for update nowait`.execute(transaction),
    );
    expect(await db.selectFrom('jobs').select(['id', 'run_at']).execute()).toEqual([
      { id: high, run_at: start },
    ]);
  });
});
