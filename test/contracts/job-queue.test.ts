import type { Job, JobOutcome } from '@waxwing/jobs';
import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, onlyJob, open, recorder, start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

describe('the job queue', () => {
  eachBackend((backend) => {
    it('runs a committed job, but not a rolled-back one', async () => {
      const database = await open(backend, { now: start });
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      const rolledBack = database.write(async (transaction) => {
        await database.jobs.enqueue(transaction, { kind: 'k', payload: 'b', giveUpAt: start + 1000 });
        throw new Error('no');
      });
      const results = await Promise.allSettled([add(database, 'a'), rolledBack, add(database, 'c')]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
      await idle(database.jobs);
      expect(done.sort()).toEqual(['a', 'c']);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('starts a job automatically after the commit', async () => {
      const database = await open(backend, { now: start });
      const started = new Promise<string>((resolve) => {
        database.jobs.handle(
          'k',
          handler(async ({ payload }) => {
            resolve(payload);
            return { kind: 'done' };
          }),
        );
      });
      await database.jobs.start();
      await add(database, 'a');
      expect(await started).toBe('a');
      await idle(database.jobs);
    });

    it('passes a job to its handler unchanged, for any payload', async () => {
      const database = await open(backend, { now: start });
      const jobs: Job[] = [];
      database.jobs.handle(
        'k',
        handler(async (job) => {
          jobs.push(job);
          return { kind: 'done' };
        }),
      );
      const payload = JSON.stringify({
        quotes: `'"\\ $1 ?`,
        lines: '\n\u2028',
        emoji: '🐦',
        big: '9'.repeat(5000),
      });
      await add(database, payload, { giveUpAt: start + 5 });
      await database.jobs.start();
      await idle(database.jobs);
      expect(jobs).toMatchObject([{ kind: 'k', payload, attempt: 1, createdAt: start, giveUpAt: start + 5 }]);
    });

    it('runs each job of one transaction or of many concurrent transactions once', async () => {
      const database = await open(backend, { now: start });
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      const payloads = Array.from({ length: 300 }, (_, index) => String(index));
      await database.write(async (transaction) => {
        for (const payload of payloads.slice(0, 100)) {
          await database.jobs.enqueue(transaction, { kind: 'k', payload, giveUpAt: start + 1000 });
        }
      });
      await Promise.all(payloads.slice(100).map((payload) => add(database, payload)));
      await idle(database.jobs);
      expect(done.toSorted((a, b) => Number(a) - Number(b))).toEqual(payloads);
    });

    it('limits concurrent jobs of a kind to the handler’s concurrency', async () => {
      const database = await open(backend, { now: start });
      let running = 0;
      let most = 0;
      database.jobs.handle(
        'k',
        handler(async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setImmediate(resolve));
          running--;
          return { kind: 'done' };
        }, 3),
      );
      await Promise.all(Array.from({ length: 20 }, () => add(database, '')));
      await database.jobs.start();
      await idle(database.jobs);
      expect(most).toBe(3);
    });

    it('retries a job immediately if its handler requests it, while other jobs end and start', async () => {
      // With a fixed clock, leases do not expire, so only the outcome makes the job claimable again.
      const database = await open(backend, { now: start });
      const attempts = new Map<string, number>();
      const finished = new Promise<void>((resolve) => {
        let left = 20;
        database.jobs.handle(
          'k',
          handler(async ({ payload, attempt }) => {
            attempts.set(payload, attempt);
            if (attempt < 10) return { kind: 'retry', at: start, reason: 'again' };
            left -= 1;
            if (left === 0) resolve();
            return { kind: 'done' };
          }, 5),
        );
      });
      await Promise.all(Array.from({ length: 20 }, (_, index) => add(database, String(index))));
      await database.jobs.start();
      await finished;
      await idle(database.jobs);
      expect([...attempts.values()]).toEqual(Array.from({ length: 20 }, () => 10));
      expect(await countsOf(database)).toBeUndefined();
    });

    it('rejects a kind or payload that one of the backends could not store', async () => {
      const database = await open(backend, { now: start });
      await expect(add(database, '', { kind: 'two words' })).rejects.toThrow('two words');
      await expect(add(database, 'a\0b')).rejects.toThrow('NUL');
      await expect(add(database, 'a\ud83d b')).rejects.toThrow('an unpaired surrogate');
      await expect(add(database, 'a\u0001b')).resolves.toBeUndefined();
    });

    it('does not start a job before its start time', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      await add(database, 'later', { runAt: start + 50 });
      await idle(database.jobs);
      clock.now = start + 49;
      await idle(database.jobs);
      expect(done).toEqual([]);
      expect(await countsOf(database)).toMatchObject({ due: 0, waiting: 1 });
      clock.now = start + 50;
      await idle(database.jobs);
      expect(done).toEqual(['later']);
    });

    it('retries at the time that the handler requests, and gives up at the job’s deadline', async () => {
      const clock = { now: start };
      const reported: unknown[] = [];
      const database = await backend.open({
        migrations: [],
        now: () => clock.now,
        onJobGivenUp: ({ kind }, reason) => void reported.push([kind, reason]),
      });
      const outcomes: JobOutcome<unknown>[] = [
        { kind: 'retry', at: start + 50, reason: 'busy' },
        { kind: 'retry', at: start + 5000, reason: 'still busy' },
      ];
      const attempts: number[] = [];
      const gaveUp: unknown[] = [];
      database.jobs.handle('k', {
        concurrency: 2,
        run: async ({ attempt }) => {
          attempts.push(attempt);
          return outcomes[attempt - 1] as JobOutcome<unknown>;
        },
        giveUp: (job, reason) => async () => void gaveUp.push([job.payload, reason]),
      });
      await database.jobs.start();
      await add(database, 'a', { giveUpAt: start + 1000 });
      await idle(database.jobs);
      clock.now = start + 49;
      await idle(database.jobs);
      expect(attempts).toEqual([1]);
      clock.now = start + 50;
      await idle(database.jobs);
      clock.now = start + 999;
      await idle(database.jobs);
      expect([attempts, gaveUp]).toEqual([[1, 2], []]);
      clock.now = start + 1000;
      await idle(database.jobs);
      expect([attempts, gaveUp]).toEqual([[1, 2], [['a', 'still busy']]]);
      const dead = await onlyJob(database);
      expect(dead).toMatchObject({
        state: 'dead',
        attempts: 3,
        reason: 'given up: still busy',
        at: start + 1000,
      });
      expect(reported).toEqual([['k', 'given up: still busy']]);
    });

    it('keeps a dead job with its reason, even if the reason contains unstorable characters', async () => {
      const database = await open(backend, { now: start });
      database.jobs.handle(
        'k',
        handler(async () => ({ kind: 'dead', reason: `refused\0\ud800 ${'!'.repeat(5000)}` })),
      );
      await database.jobs.start();
      await add(database, 'a');
      await idle(database.jobs);
      const { id } = await onlyJob(database);
      expect(await database.jobs.show(id)).toMatchObject({
        state: 'dead',
        payload: 'a',
        attempts: 1,
        reason: `refused\ufffd\ufffd ${'!'.repeat(5000)}`.slice(0, 1000),
      });
    });

    it('retries a job with backoff if its handler throws, and reports the error', async () => {
      const clock = { now: start };
      const errors: unknown[] = [];
      const database = await backend.open({
        migrations: [],
        now: () => clock.now,
        onJobError: (error, job) => errors.push([(error as Error).message, job.payload]),
      });
      const attempts: number[] = [];
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt < 3) throw new Error(`attempt ${attempt}`);
          return { kind: 'done' };
        }),
      );
      await database.jobs.start();
      await add(database, 'a');
      for (const elapsed of [0, 999, 1000, 2999, 3000]) {
        clock.now = start + elapsed;
        await idle(database.jobs);
      }
      expect(attempts).toEqual([1, 2, 3]);
      expect(errors).toEqual([
        ['attempt 1', 'a'],
        ['attempt 2', 'a'],
      ]);
    });
  });
});
