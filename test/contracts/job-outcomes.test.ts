import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, open, recorder, start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

describe('the job queue', () => {
  eachBackend((backend) => {
    it('commits an outcome together with its changes, or neither', async () => {
      const clock = { now: start };
      const errors: unknown[] = [];
      const database = await backend.open({
        migrations: [],
        now: () => clock.now,
        onJobError: (error) => errors.push((error as Error).message),
      });
      const followed: string[] = [];
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => ({
          kind: 'done',
          apply: async (transaction) => {
            await database.jobs.enqueue(transaction, {
              kind: 'next',
              payload: `${attempt}`,
              giveUpAt: start + 9000,
            });
            if (attempt === 1) throw new Error('apply failed');
          },
        })),
      );
      database.jobs.handle('next', recorder(followed));
      await database.jobs.start();
      await add(database, 'a');
      await idle(database.jobs);
      expect([errors, followed]).toEqual([['apply failed'], []]);
      expect(await countsOf(database)).toMatchObject({ waiting: 1 });
      clock.now = start + 1000;
      await idle(database.jobs);
      expect([errors, followed]).toEqual([['apply failed'], ['2']]);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('records all other outcomes if one fails', async () => {
      const errors: unknown[] = [];
      const database = await backend.open({
        migrations: [],
        now: () => start,
        onJobError: (error) => errors.push((error as Error).message),
      });
      database.jobs.handle(
        'k',
        handler(
          async ({ payload }) => ({
            kind: 'done',
            apply: async () => {
              if (payload === '3') throw new Error('three');
            },
          }),
          10,
        ),
      );
      for (const payload of ['1', '2', '3', '4']) await add(database, payload);
      await database.jobs.start();
      await idle(database.jobs);
      expect(errors).toEqual(['three']);
      expect((await database.jobs.list({ kind: 'k' })).map(({ reason }) => reason)).toEqual([
        'the outcome could not be recorded',
      ]);
    });

    it('does not start more jobs than it can record, even if the database is slow', async () => {
      const database = await open(backend, { now: start });
      let begun = 0;
      let release: () => void = () => undefined;
      const released = new Promise<void>((resolve) => {
        release = resolve;
      });
      database.jobs.handle(
        'k',
        handler(async () => {
          begun++;
          return { kind: 'done', apply: () => released };
        }, 2),
      );
      await database.write(async (transaction) => {
        for (let count = 0; count < 20; count++) {
          const job = { kind: 'k', payload: '', giveUpAt: start + 1000 };
          await database.jobs.enqueue(transaction, job);
        }
      });
      await database.jobs.start();
      await expect.poll(() => begun).toBeGreaterThanOrEqual(2);
      // Gives the queue time for further claims: each of these queries takes as long as a claim.
      for (let asked = 0; asked < 50; asked++) await countsOf(database);
      const begunUnrecorded = begun;
      release();
      // The handler's limit allows two running jobs, plus two whose outcome is not recorded yet.
      expect(begunUnrecorded).toBeLessThanOrEqual(4);
      await idle(database.jobs);
      expect(begun).toBe(20);
    });
  });
});
