import { execFileSync } from 'node:child_process';
import type { JobOutcome } from '@waxwing/jobs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, onlyJob, open, recorder, start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

/** Copies a process's database files in their current state, as after a power failure. */
function afterPowerCut(url: string): string {
  if (!url.startsWith('sqlite:')) return url;
  const path = url.slice('sqlite:'.length);
  // Copies in another process, because this process would lose its locks on the database when it closes the file.
  for (const suffix of ['', '-wal']) execFileSync('cp', [`${path}${suffix}`, `${path}.copy${suffix}`]);
  return `${url}.copy`;
}

/** Stops lease renewals, so that a process looks dead. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a process of the job queue', () => {
  eachBackend((backend) => {
    it('takes over the jobs of a dead process, and ignores the late outcomes of that process', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const dying = await open(backend, clock, url);
      let answer: (outcome: JobOutcome<unknown>) => void = () => undefined;
      const claimed = new Promise<void>((resolve) => {
        dying.jobs.handle(
          'k',
          handler(() => {
            resolve();
            return new Promise((late) => {
              answer = late;
            });
            // The limit of one job keeps this process from claiming the same job again.
          }, 1),
        );
      });
      await dying.jobs.start();
      await add(dying, 'a');
      await claimed;
      expect(await countsOf(dying)).toMatchObject({ running: 1 });
      const survivor = await open(backend, clock, afterPowerCut(url));
      const attempts: number[] = [];
      survivor.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          return { kind: 'retry', at: start + 100_000, reason: 'taken over' };
        }),
      );
      await survivor.jobs.start();
      await idle(survivor.jobs);
      // On SQLite, only one process serves, so it can immediately claim a job that another process leased.
      expect(attempts).toEqual(backend.name === 'sqlite' ? [2] : []);
      clock.now = start + 20_001;
      await idle(survivor.jobs);
      expect(attempts).toEqual([2]);
      answer({ kind: 'done' });
      await idle(dying.jobs);
      expect(await onlyJob(survivor)).toMatchObject({ state: 'waiting', attempts: 2, reason: 'taken over' });
    });

    it('continues its own job after the lease expires, without starting the job twice', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const database = await open(backend, clock, url);
      const begun: string[] = [];
      let finish: () => void = () => undefined;
      let tellBegun: () => void = () => undefined;
      database.jobs.handle(
        'k',
        handler(async ({ payload }) => {
          begun.push(payload);
          tellBegun();
          if (payload === 'a') {
            await new Promise<void>((done) => {
              finish = done;
            });
          }
          return { kind: 'done' };
        }),
      );
      const addAndBegin = async (payload: string) => {
        const beginning = new Promise<void>((resolve) => {
          tellBegun = resolve;
        });
        await add(database, payload, { giveUpAt: start + 9_000_000 });
        await beginning;
      };
      await database.jobs.start();
      await addAndBegin('a');
      clock.now = start + 3_600_000;
      // The lease has expired. On PostgreSQL, another process releases the job, so this process finds it claimable.
      if (backend.name === 'postgres') await (await open(backend, clock, url)).jobs.start();
      await addAndBegin('b');
      finish();
      await idle(database.jobs);
      expect(begun).toEqual(['a', 'b']);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('starts a delayed job of one kind while another kind is constantly busy', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      let busy = 0;
      const stop = new AbortController();
      const delayed = new Promise<void>((resolve) => {
        database.jobs.handle(
          'delayed',
          handler(async () => {
            resolve();
            return { kind: 'done' };
          }),
        );
      });
      database.jobs.handle(
        'k',
        handler(async () => {
          busy++;
          if (busy === 5) clock.now = start + 100;
          if (stop.signal.aborted) return { kind: 'done' };
          return { kind: 'retry', at: clock.now, reason: 'again' };
        }, 1),
      );
      await add(database, 'later', { kind: 'delayed', runAt: start + 100 });
      await add(database, 'a');
      await add(database, 'b');
      await database.jobs.start();
      await delayed;
      stop.abort();
      await idle(database.jobs);
      expect(busy).toBeGreaterThan(5);
    });

    it('releases jobs that do not end before the deadline, and the next process runs them immediately', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const first = await open(backend, clock, url);
      const deafRuns = new Promise<void>((resolve) => {
        first.jobs.handle(
          'deaf',
          handler(() => new Promise(() => resolve())),
        );
      });
      const otherRuns = new Promise<void>((resolve) => {
        first.jobs.handle(
          'k',
          handler((_job, signal) => {
            resolve();
            return new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
            });
          }),
        );
      });
      await first.jobs.start();
      await add(first, 'a');
      await add(first, 'b', { kind: 'deaf' });
      await Promise.all([deafRuns, otherRuns]);
      await first.jobs.stop(0);
      await first.close();
      const second = await open(backend, clock, url);
      const done: string[] = [];
      second.jobs.handle('k', recorder(done));
      second.jobs.handle('deaf', recorder(done));
      await second.jobs.start();
      await idle(second.jobs);
      expect(done.sort()).toEqual(['a', 'b']);
    });

    it('waits for jobs that end before the deadline', async () => {
      const database = await open(backend, { now: start });
      let finish: () => void = () => undefined;
      const claimed = new Promise<void>((resolve) => {
        database.jobs.handle(
          'k',
          handler(async () => {
            resolve();
            await new Promise<void>((done) => {
              finish = done;
            });
            return { kind: 'done' };
          }),
        );
      });
      await database.jobs.start();
      await add(database, 'a');
      await claimed;
      const stopped = database.jobs.stop(50_000);
      finish();
      await stopped;
      expect(await countsOf(database)).toBeUndefined();
    });

    it('keeps jobs across a restart', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const first = await open(backend, clock, url);
      await add(first, 'a');
      await first.close();
      const second = await open(backend, clock, url);
      const done: string[] = [];
      second.jobs.handle('k', recorder(done));
      await second.jobs.start();
      await idle(second.jobs);
      expect(done).toEqual(['a']);
    });

    it('runs no jobs in a command, which can only add jobs', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const serving = await open(backend, clock, url);
      const command = await backend.open<unknown>({
        migrations: [],
        url,
        role: 'visiting',
        now: () => clock.now,
      });
      await expect(command.jobs.start()).rejects.toThrow('serving');
      await add(command, 'a');
      const done: string[] = [];
      serving.jobs.handle('k', recorder(done));
      await serving.jobs.start();
      await idle(serving.jobs);
      expect(done).toEqual(['a']);
    });
  });
});
