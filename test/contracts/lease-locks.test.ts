import { expect, it } from 'vitest';
import type { JobTables } from '#jobs/job-tables.js';
import type { ClaimedJob } from '#jobs/lease.js';
import { LeaseTable } from '#jobs/lease-table.js';
import { start } from '../support/job-queue-under-test.js';
import { whileLocked } from '../support/lock-waits.js';
import { eachPostgres } from '../support/test-databases.js';

type Act = (leases: LeaseTable, claims: readonly ClaimedJob[]) => Promise<void>;

eachPostgres((backend) => {
  it.each<[string, Act]>([
    ['renewing leases', (leases, claims) => leases.renew(claims)],
    ['releasing leases', (leases, claims) => leases.release(claims)],
    ['taking over expired leases', (leases) => leases.takeOver()],
  ])('%s waits for no job that is being settled, so that the two cannot deadlock', async (_, act) => {
    const database = await backend.open<JobTables>({ migrations: [] });
    const { db } = database;
    const clock = { now: start };
    const leases = new LeaseTable({ database, now: () => clock.now });
    const job = {
      kind: 'k',
      payload: '',
      createdAt: start,
      runAt: start,
      giveUpAt: start + 1_000_000,
      reason: undefined,
    };
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
        // The others have changed already, and are free to be settled as well.
        expect(await leasedUntil()).not.toEqual(before);
        await transaction.deleteFrom('jobs').where('id', '=', low).execute();
      },
    );
    expect(await leasedUntil()).toEqual([[middle, expect.toSatisfy((until) => until !== before[1]?.[1])]]);
  });
});
