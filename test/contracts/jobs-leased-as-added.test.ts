import { sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { LeaseTable } from '#jobs/lease-table.js';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, open, start } from '../support/job-queue-under-test.js';
import { eachBackend, type TestBackend } from '../support/test-databases.js';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Jobs that end when they are told to, with room for so many. */
async function held(backend: TestBackend, concurrency: number) {
  const database = await open(backend, { now: start });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  database.jobs.handle(
    'k',
    handler(async ({ payload }) => {
      begun.push(payload);
      await new Promise<void>((resolve) => ends.push(resolve));
      return { kind: 'done' };
    }, concurrency),
  );
  await database.jobs.start();
  await idle(database.jobs);
  const leased = async () => {
    const query = sql<{ payload: string }>`
      select payload from jobs where kind = 'k' and leased_until is not null order by payload`;
    return (await query.execute(database.db)).rows.map(({ payload }) => payload);
  };
  const endAll = () => {
    for (const end of ends.splice(0)) end();
  };
  return { database, begun, leased, endAll };
}

describe('a job that is added where there is room', () => {
  eachBackend((backend) => {
    it('is leased and begun with the commit that adds it, as far as there is room', async () => {
      const { database, begun, leased, endAll } = await held(backend, 2);
      const claims = vi.spyOn(LeaseTable.prototype, 'claim');
      await Promise.all(['a', 'b', 'c'].map((payload) => add(database, payload)));
      expect(claims).not.toHaveBeenCalled();
      expect(begun).toEqual(['a', 'b']);
      expect(await leased()).toEqual(['a', 'b']);
      endAll();
      await expect.poll(() => begun).toEqual(['a', 'b', 'c']);
      endAll();
      await idle(database.jobs);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('comes after those that were due before it', async () => {
      const { database, begun, endAll } = await held(backend, 1);
      await Promise.all([add(database, 'a'), add(database, 'b', { runAt: start - 1 })]);
      expect(begun).toEqual(['b']);
      endAll();
      await expect.poll(() => begun).toEqual(['b', 'a']);
      endAll();
      await idle(database.jobs);
    });

    it('waits for a place where two transactions have found the same room', async () => {
      const { database, begun, leased, endAll } = await twoInOneRoom(backend);
      expect(await leased()).toEqual(['a', 'b']);
      expect(begun).toHaveLength(1);
      endAll();
      await expect.poll(() => [...begun].sort()).toEqual(['a', 'b']);
      endAll();
      await idle(database.jobs);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('is handed back with the others when the process closes while it waits for a place', async () => {
      const { database, begun, leased } = await twoInOneRoom(backend);
      await database.jobs.stop(0);
      expect(await leased()).toEqual([]);
      expect(begun).toHaveLength(1);
    });
  });
});

/** Room for one job, and two that were leased at the same time. */
async function twoInOneRoom(backend: TestBackend) {
  const queue = await held(backend, 1);
  const { database } = queue;
  const { claim } = LeaseTable.prototype;
  let added: Promise<void> | undefined;
  vi.spyOn(LeaseTable.prototype, 'claim').mockImplementation(function (this: LeaseTable, kind, limit) {
    if (kind === 'k') added ??= add(database, 'b');
    return claim.call(this, kind, limit);
  });
  // As another process adds it, which does no jobs.
  await sql`insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt)
    values ('k', 'a', ${start}, ${start}, ${start + 1000}, 0)`.execute(database.db);
  // It looks for jobs each second.
  await expect.poll(() => queue.begun, { timeout: 5000 }).toHaveLength(1);
  await added;
  return queue;
}
