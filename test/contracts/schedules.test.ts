import type { DatabaseWithJobs } from '@waxwing/jobs';
import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { eachBackend, eachPostgres, type TestBackend } from '../support/test-databases.js';

const start = 1_800_000_000_000;
const hour = 60 * 60_000;

function open(
  backend: TestBackend,
  clock: { now: number },
  url?: string,
): Promise<DatabaseWithJobs<unknown>> {
  return backend.open({ migrations: [], now: () => clock.now, ...(url === undefined ? {} : { url }) });
}

describe('a schedule', () => {
  eachBackend((backend) => {
    it('runs at the very first start and then once per period', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const done: number[] = [];
      database.jobs.schedule('tidy', hour, async () => void done.push(clock.now - start));
      await database.jobs.start();
      for (const elapsed of [0, 1, hour - 1, hour, hour + 1, 2 * hour, 5 * hour]) {
        clock.now = start + elapsed;
        await idle(database.jobs);
      }
      expect(done).toEqual([0, hour, 2 * hour, 5 * hour]);
    });

    it('reports whether the period directly follows the previous one', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const periods: boolean[] = [];
      database.jobs.schedule(
        'tidy',
        hour,
        async (_signal, { isContinued }) => void periods.push(isContinued),
      );
      await database.jobs.start();
      // The runs: first, on time, late, late by a whole period, on time, after the clock was set back, on time.
      for (const elapsed of [0, 1, 2.9, 4.9, 5.9, -100, -99]) {
        clock.now = start + elapsed * hour;
        await idle(database.jobs);
      }
      expect(periods).toEqual([false, true, true, false, true, false, true]);
    });

    it('does not run again after a restart within the period', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      let done = 0;
      for (const elapsed of [0, hour / 2, hour]) {
        clock.now = start + elapsed;
        const database = await open(backend, clock, url);
        database.jobs.schedule('tidy', hour, async () => void done++);
        await database.jobs.start();
        await idle(database.jobs);
        await database.jobs.stop(1000);
        await database.close();
      }
      expect(done).toBe(2);
    });

    it('is retried within the period after a failure', async () => {
      const clock = { now: start };
      const errors: unknown[] = [];
      const database = await backend.open<unknown>({
        migrations: [],
        now: () => clock.now,
        onJobError: (error) => errors.push(error),
      });
      let attempts = 0;
      database.jobs.schedule('tidy', hour, async () => {
        if (++attempts === 1) throw new Error('not yet');
      });
      await database.jobs.start();
      await idle(database.jobs);
      clock.now = start + 1000;
      await idle(database.jobs);
      clock.now = start + 2000;
      await idle(database.jobs);
      expect([attempts, errors]).toEqual([2, [new Error('not yet')]]);
    });

    it('does not wait longer than a period after the clock was set back', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      let done = 0;
      database.jobs.schedule('tidy', hour, async () => void done++);
      await database.jobs.start();
      await idle(database.jobs);
      clock.now = start - 100 * hour;
      await idle(database.jobs);
      expect(done).toBe(2);
      clock.now += hour - 1;
      await idle(database.jobs);
      expect(done).toBe(2);
    });
  });

  eachPostgres((backend) => {
    it('runs once per period across all processes', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const databases = await Promise.all([0, 1, 2].map(() => open(backend, clock, url)));
      let done = 0;
      for (const database of databases) database.jobs.schedule('tidy', hour, async () => void done++);
      await Promise.all(databases.map(({ jobs }) => jobs.start()));
      for (let period = 0; period < 5; period++) {
        clock.now = start + period * hour;
        await Promise.all(databases.map(({ jobs }) => idle(jobs)));
        // Waits a second time, because `idle` covers only jobs claimed by the same process.
        await Promise.all(databases.map(({ jobs }) => idle(jobs)));
      }
      expect(done).toBe(5);
    });
  });
});
