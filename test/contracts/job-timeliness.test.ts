import { afterEach, describe, expect, it, vi } from 'vitest';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, onlyJob, open, recorder, start } from '../support/job-queue-under-test.js';
import { eachBackend, eachPostgres } from '../support/test-databases.js';

const spacing = 20;

/** Restores real timers before a test's databases are closed, because closing needs them. */
function restoreTimersAfterEach(): void {
  afterEach(() => {
    vi.useRealTimers();
  });
}

describe('the timing of the job queue', () => {
  eachBackend((backend) => {
    restoreTimersAfterEach();

    it('starts a job of one kind on time while another kind has more jobs than slots', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
      const blocked = new AbortController();
      database.jobs.handle(
        'k',
        handler(async () => {
          if (!blocked.signal.aborted) {
            await new Promise((resolve) => blocked.signal.addEventListener('abort', resolve));
          }
          return { kind: 'done' };
        }, 1),
      );
      let tellDone: () => void = () => undefined;
      database.jobs.handle(
        'punctual',
        handler(async () => {
          tellDone();
          return { kind: 'done' };
        }),
      );
      await database.jobs.start();
      for (const payload of ['runs', 'waits for its place']) await add(database, payload);
      let isDone = false;
      tellDone = () => {
        isDone = true;
      };
      for (let count = 0; count < 4; count++) {
        isDone = false;
        await add(database, '', { kind: 'punctual', runAt: clock.now + 100 });
        // Advances the clock only as fast as the database answers, so that the result does not depend on the database's
        // speed.
        while (!isDone) {
          await countsOf(database);
          await new Promise((resolve) => setImmediate(resolve));
          clock.now += 5;
          vi.advanceTimersByTime(5);
        }
      }
      // If the queue found the four jobs only by polling once a second, they would take four seconds.
      expect(clock.now - start).toBeLessThan(3000);
      blocked.abort();
      await idle(database.jobs);
    });

    it('gives up a job at its deadline, even if that is before its start time', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      database.jobs.handle('k', recorder([]));
      await database.jobs.start();
      await add(database, 'a', { runAt: start + 5000, giveUpAt: start + 1000 });
      clock.now = start + 1000;
      await idle(database.jobs);
      expect(await onlyJob(database)).toMatchObject({
        state: 'dead',
        reason: 'given up: it was never attempted',
      });
    });

    it('brings waiting jobs forward at intervals after an outage, and delays no job', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      database.jobs.handle('other', recorder(done));
      await database.jobs.start();
      await add(database, 'soon', { runAt: start + 5 });
      for (const hour of [3, 1, 2]) {
        await add(database, `in ${hour} h`, { runAt: start + hour * 3_600_000, giveUpAt: start + 99e6 });
      }
      await add(database, 'of another kind', { kind: 'other', runAt: start + 3_600_000 });
      await database.jobs.bringForward('k', spacing);
      const instants = (await database.jobs.list({ kind: 'k' })).map(({ at }) => at - start);
      // Leaves out the first job, which is due now and may be done already.
      expect(instants.filter((at) => at > 0).sort((a, b) => a - b)).toEqual([
        spacing,
        2 * spacing,
        3 * spacing,
      ]);
      await idle(database.jobs);
      expect(done).toEqual(['soon']);
      for (let step = 1; step < 4; step++) {
        clock.now = start + step * spacing;
        await idle(database.jobs);
      }
      expect(done).toEqual(['soon', 'in 1 h', 'in 2 h', 'in 3 h']);
    });

    it('brings forward more jobs than fit into one statement, but only the first 10,000', async () => {
      const database = await open(backend, { now: start });
      await database.write(async (transaction) => {
        for (let index = 0; index < 10_300; index++) {
          const job = { kind: 'k', payload: '', giveUpAt: start + 99e6, runAt: start + 3_600_000 + index };
          await database.jobs.enqueue(transaction, job);
        }
      });
      await database.jobs.bringForward('k', 1);
      const instants = (await database.jobs.list({ kind: 'k', limit: 20_000 })).map(({ at }) => at - start);
      const sooner = instants.filter((at) => at < 3_600_000).sort((a, b) => a - b);
      expect(sooner).toEqual(Array.from({ length: 10_000 }, (_, index) => index));
    });
  });

  eachPostgres((backend) => {
    restoreTimersAfterEach();

    it('starts a job that another process added without waiting for a poll', async () => {
      const url = await backend.freshUrl();
      const clock = { now: start };
      const [adding, working] = [await open(backend, clock, url), await open(backend, clock, url)];
      let tellDone: () => void = () => undefined;
      working.jobs.handle(
        'k',
        handler(async () => {
          tellDone();
          return { kind: 'done' };
        }),
      );
      // Without timers the queue does not poll: it runs a job only when it is notified.
      vi.useFakeTimers({ toFake: ['setTimeout'] });
      await working.jobs.start();
      await idle(working.jobs);
      for (let count = 0; count < 5; count++) {
        const done = new Promise<void>((resolve) => {
          tellDone = resolve;
        });
        await add(adding, '');
        await done;
      }
    });
  });
});
