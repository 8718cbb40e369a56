import { expect, it } from 'vitest';
import type { JobTables } from '#jobs/job-tables.js';
import { LeaseTable } from '#jobs/lease-table.js';
import { start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

eachBackend((backend) => {
  it('the lease table settles the current claim of a job, but not a stale claim in the same batch', async () => {
    const database = await backend.open<JobTables>({ migrations: [] });
    const leases = new LeaseTable({ database, now: () => start });
    const job = {
      kind: 'k',
      payload: '',
      createdAt: start,
      runAt: start,
      giveUpAt: start,
      reason: undefined,
    };
    await database.write((transaction) => leases.add(transaction, [job]));
    const [stale] = await leases.claim('k', 1);
    if (stale === undefined) throw new Error('there was no job');
    await leases.release([stale]);
    const [current] = await leases.claim('k', 1);
    if (current === undefined) throw new Error('the job was not released');
    const next = { runAt: start, reason: 'busy' };
    const settled = await database.write(({ db }) =>
      leases.settle(db, [
        { claim: stale, next: undefined },
        { claim: current, next },
      ]),
    );
    expect([...settled]).toEqual([current]);
    expect(await leases.claim('k', 1)).toMatchObject([{ job: { attempt: 3 }, lastReason: 'busy' }]);
  });
});
