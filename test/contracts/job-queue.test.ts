import { copyFileSync } from 'node:fs';
import type { Database, Job, JobHandler, JobOutcome, NewJob } from '@waxwing/storage';
import { describe, expect, it } from 'vitest';
import { eachBackend, type TestBackend } from '../support/test-databases.js';

interface Clock {
  now: number;
}

const start = 1_800_000_000_000;

function open(backend: TestBackend, clock: Clock, url?: string): Promise<Database<unknown>> {
  return backend.open({ migrations: [], now: () => clock.now, ...(url === undefined ? {} : { url }) });
}

function handler(run: (job: Job, signal: AbortSignal) => Promise<JobOutcome>, concurrency = 2): JobHandler {
  return { concurrency, run, giveUp: () => async () => {} };
}

/** Does nothing but remember what it was given. */
function recorder(done: string[]): JobHandler {
  return handler(async ({ payload }) => {
    done.push(payload);
    return { kind: 'done' };
  });
}

function add(database: Database<unknown>, payload: string, more: Partial<NewJob> = {}): Promise<void> {
  return database.write((transaction) =>
    database.jobs.enqueue(transaction, { kind: 'k', payload, giveUpAt: start + 1_000_000, ...more }),
  );
}

async function countsOf(database: Database<unknown>, kind = 'k') {
  return (await database.jobs.counts()).find((counts) => counts.kind === kind);
}

async function onlyJob(database: Database<unknown>) {
  const [job] = await database.jobs.list({ kind: 'k' });
  if (job === undefined) throw new Error('there is no job');
  return job;
}

/** What a process finds that starts on the disk of one that was cut off this moment. */
function afterPowerCut(url: string): string {
  if (!url.startsWith('sqlite:')) return url;
  const path = url.slice('sqlite:'.length);
  for (const suffix of ['', '-wal']) copyFileSync(`${path}${suffix}`, `${path}.copy${suffix}`);
  return `${url}.copy`;
}

describe('the job queue', () => {
  eachBackend((backend) => {
    it('does a job once it is committed, and not one that was rolled back', async () => {
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
      await database.jobs.idle();
      expect(done.sort()).toEqual(['a', 'c']);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('starts a job without being asked, once it is committed', async () => {
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
      await database.jobs.idle();
    });

    it('gives a handler the job as it was added, whatever its payload says', async () => {
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
      await database.jobs.idle();
      expect(jobs).toMatchObject([{ kind: 'k', payload, attempt: 1, createdAt: start, giveUpAt: start + 5 }]);
    });

    it('does the jobs of one transaction, and of many at once, each once', async () => {
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
      await database.jobs.idle();
      expect(done.toSorted((a, b) => Number(a) - Number(b))).toEqual(payloads);
    });

    it('runs no more jobs of a kind at once than the handler asks for', async () => {
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
      await database.jobs.idle();
      expect(most).toBe(3);
    });

    it('refuses a kind and a payload that a backend could not store', async () => {
      const database = await open(backend, { now: start });
      await expect(add(database, '', { kind: 'two words' })).rejects.toThrow('two words');
      await expect(add(database, 'a\0b')).rejects.toThrow('NUL');
      await expect(add(database, 'a\u0001b')).resolves.toBeUndefined();
    });

    it('waits for the instant that the job names', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      await add(database, 'later', { runAt: start + 50 });
      await database.jobs.idle();
      clock.now = start + 49;
      await database.jobs.idle();
      expect(done).toEqual([]);
      expect(await countsOf(database)).toMatchObject({ due: 0, waiting: 1 });
      clock.now = start + 50;
      await database.jobs.idle();
      expect(done).toEqual(['later']);
    });

    it('retries at the instant that the handler names and gives up at the instant that the job names', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const outcomes: JobOutcome[] = [
        { kind: 'retry', at: start + 50, reason: 'busy' },
        { kind: 'retry', at: start + 5000, reason: 'still busy' },
      ];
      const attempts: number[] = [];
      const gaveUp: unknown[] = [];
      database.jobs.handle('k', {
        concurrency: 2,
        run: async ({ attempt }) => {
          attempts.push(attempt);
          return outcomes[attempt - 1] as JobOutcome;
        },
        giveUp: (job, reason) => async () => void gaveUp.push([job.payload, reason]),
      });
      await database.jobs.start();
      await add(database, 'a', { giveUpAt: start + 1000 });
      await database.jobs.idle();
      clock.now = start + 49;
      await database.jobs.idle();
      expect(attempts).toEqual([1]);
      clock.now = start + 50;
      await database.jobs.idle();
      clock.now = start + 999;
      await database.jobs.idle();
      expect([attempts, gaveUp]).toEqual([[1, 2], []]);
      clock.now = start + 1000;
      await database.jobs.idle();
      expect([attempts, gaveUp]).toEqual([[1, 2], [['a', 'still busy']]]);
      const dead = await onlyJob(database);
      expect(dead).toMatchObject({
        state: 'dead',
        attempts: 3,
        reason: 'given up: still busy',
        at: start + 1000,
      });
    });

    it('keeps a dead job with its reason, also one that quotes what no database can store', async () => {
      const database = await open(backend, { now: start });
      database.jobs.handle(
        'k',
        handler(async () => ({ kind: 'dead', reason: `refused\0\ud800 ${'!'.repeat(5000)}` })),
      );
      await database.jobs.start();
      await add(database, 'a');
      await database.jobs.idle();
      const { id } = await onlyJob(database);
      expect(await database.jobs.show(id)).toMatchObject({
        state: 'dead',
        payload: 'a',
        attempts: 1,
        reason: `refused\ufffd\ufffd ${'!'.repeat(5000)}`.slice(0, 1000),
      });
    });

    it('retries a job whose handler throws, later each time, and tells of it', async () => {
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
        await database.jobs.idle();
      }
      expect(attempts).toEqual([1, 2, 3]);
      expect(errors).toEqual([
        ['attempt 1', 'a'],
        ['attempt 2', 'a'],
      ]);
    });

    it('commits what belongs to an outcome together with it, and neither when that fails', async () => {
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
      await database.jobs.idle();
      expect([errors, followed]).toEqual([['apply failed'], []]);
      expect(await countsOf(database)).toMatchObject({ waiting: 1 });
      clock.now = start + 1000;
      await database.jobs.idle();
      expect([errors, followed]).toEqual([['apply failed'], ['2']]);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('lets one outcome that cannot be recorded spoil none of the others', async () => {
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
      await database.jobs.idle();
      expect(errors).toEqual(['three']);
      expect((await database.jobs.list({ kind: 'k' })).map(({ reason }) => reason)).toEqual([
        'the outcome could not be recorded',
      ]);
    });

    it('takes over what a process that died was doing, and ignores what that one says later', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const dying = await open(backend, clock, url);
      let answer: (outcome: JobOutcome) => void = () => undefined;
      const claimed = new Promise<void>((resolve) => {
        dying.jobs.handle(
          'k',
          handler(() => {
            resolve();
            return new Promise((late) => {
              answer = late;
            });
          }),
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
      await survivor.jobs.idle();
      // On SQLite only one process serves, so what another one leased is free at once.
      expect(attempts).toEqual(backend.name === 'sqlite' ? [2] : []);
      clock.now = start + 20_001;
      await survivor.jobs.idle();
      expect(attempts).toEqual([2]);
      answer({ kind: 'done' });
      await dying.jobs.idle();
      expect(await onlyJob(survivor)).toMatchObject({ state: 'waiting', attempts: 2, reason: 'taken over' });
    });

    it('goes on with a job whose lease ran out here, and does not begin it a second time', async () => {
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
      // Another process finds the lease ended, and this one the job to be had again.
      if (backend.name === 'postgres') await (await open(backend, clock, url)).jobs.start();
      await addAndBegin('b');
      finish();
      await database.jobs.idle();
      expect(begun).toEqual(['a', 'b']);
      expect(await countsOf(database)).toBeUndefined();
    });

    it('starts a delayed job of one kind while another kind is busy without end', async () => {
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
      await database.jobs.idle();
      expect(busy).toBeGreaterThan(5);
    });

    it('hands back what does not end before the deadline, so that the next process does it at once', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const first = await open(backend, clock, url);
      const claimed = new Promise<void>((resolve) => {
        first.jobs.handle(
          'deaf',
          handler(() => new Promise(() => resolve())),
        );
      });
      first.jobs.handle(
        'k',
        handler(
          (_job, signal) =>
            new Promise((_resolve, reject) => {
              signal.addEventListener('abort', () => reject(signal.reason));
            }),
        ),
      );
      await first.jobs.start();
      await add(first, 'a');
      await add(first, 'b', { kind: 'deaf' });
      await claimed;
      await first.jobs.stop(0);
      await first.close();
      const second = await open(backend, clock, url);
      const done: string[] = [];
      second.jobs.handle('k', recorder(done));
      second.jobs.handle('deaf', recorder(done));
      await second.jobs.start();
      await second.jobs.idle();
      expect(done.sort()).toEqual(['a', 'b']);
    });

    it('waits for what ends before the deadline', async () => {
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
      const stopped = database.jobs.stop(10_000);
      finish();
      await stopped;
      expect(await countsOf(database)).toBeUndefined();
    });

    it('keeps jobs through a restart', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const first = await open(backend, clock, url);
      await add(first, 'a');
      await first.close();
      const second = await open(backend, clock, url);
      const done: string[] = [];
      second.jobs.handle('k', recorder(done));
      await second.jobs.start();
      await second.jobs.idle();
      expect(done).toEqual(['a']);
    });

    it('is not worked by a command beside the serving process, which may add to it', async () => {
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
      await serving.jobs.idle();
      expect(done).toEqual(['a']);
    });
  });
});

describe('the operators of the job queue', () => {
  eachBackend((backend) => {
    it('see how many jobs are due, waiting, running and dead', async () => {
      const database = await open(backend, { now: start });
      const running = new Promise<void>((resolve) => {
        database.jobs.handle(
          'k',
          handler(async ({ payload }) => {
            if (payload === 'dead') return { kind: 'dead', reason: 'no' };
            resolve();
            return new Promise(() => undefined);
          }, 1),
        );
      });
      await add(database, 'dead');
      await add(database, 'running');
      await add(database, 'due');
      await add(database, 'waiting', { runAt: start + 500 });
      await add(database, 'elsewhere', { kind: 'other' });
      await database.jobs.start();
      await running;
      expect(await countsOf(database)).toEqual({ kind: 'k', due: 1, waiting: 1, running: 1, dead: 1 });
      expect(await countsOf(database, 'other')).toEqual({
        kind: 'other',
        due: 1,
        waiting: 0,
        running: 0,
        dead: 0,
      });
      const states = await database.jobs.list({ kind: 'k' });
      expect(states.map(({ state }) => state).sort()).toEqual(['dead', 'due', 'running', 'waiting']);
      const [waiting] = await database.jobs.list({ state: 'waiting', limit: 1 });
      expect(await database.jobs.show(waiting?.id ?? '')).toMatchObject({
        kind: 'k',
        payload: 'waiting',
        at: start + 500,
        attempts: 0,
        reason: undefined,
      });
    });

    it('see the oldest jobs first, and no more than they ask for', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      for (const payload of ['a', 'b', 'c']) {
        await add(database, payload);
        clock.now++;
      }
      const listed = await database.jobs.list({ limit: 2 });
      expect(listed.map(({ createdAt }) => createdAt)).toEqual([start, start + 1]);
    });

    it('make a waiting job due at once', async () => {
      const database = await open(backend, { now: start });
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      await add(database, 'a', { runAt: start + 5000 });
      expect(await database.jobs.retry((await onlyJob(database)).id)).toBe(true);
      await database.jobs.idle();
      expect(done).toEqual(['a']);
    });

    it('bring a dead job back, with as much time as it had at first', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      let broken = true;
      const done: Job[] = [];
      database.jobs.handle(
        'k',
        handler(async (job) => {
          if (broken) return { kind: 'dead', reason: 'broken' };
          done.push(job);
          return { kind: 'done' };
        }),
      );
      await database.jobs.start();
      await add(database, 'a', { giveUpAt: start + 700 });
      await database.jobs.idle();
      const dead = await onlyJob(database);
      clock.now = start + 10_000;
      broken = false;
      expect(await database.jobs.retry(dead.id)).toBe(true);
      await database.jobs.idle();
      expect(done).toMatchObject([{ payload: 'a', attempt: 1, giveUpAt: start + 10_700 }]);
      expect(await database.jobs.retry(dead.id)).toBe(false);
    });

    it('remove a waiting or dead job, but not one that runs or does not exist', async () => {
      const database = await open(backend, { now: start });
      const running = new Promise<void>((resolve) => {
        database.jobs.handle(
          'k',
          handler(async ({ payload }) => {
            if (payload === 'dead') return { kind: 'dead', reason: 'no' };
            resolve();
            return new Promise(() => undefined);
          }),
        );
      });
      await add(database, 'dead');
      await add(database, 'running');
      await database.jobs.start();
      await running;
      await add(database, 'waiting', { runAt: start + 500 });
      while ((await countsOf(database))?.dead !== 1) await new Promise((resolve) => setImmediate(resolve));
      const dropped: string[] = [];
      for (const { id, state } of await database.jobs.list({ kind: 'k' })) {
        if (await database.jobs.drop(id)) dropped.push(state);
        else expect([state, await database.jobs.retry(id)]).toEqual(['running', false]);
      }
      expect(dropped.sort()).toEqual(['dead', 'waiting']);
      for (const id of ['12345', 'no-such-job', '00000000-0000-4000-8000-000000000000']) {
        expect(await database.jobs.drop(id)).toBe(false);
        expect(await database.jobs.retry(id)).toBe(false);
        expect(await database.jobs.show(id)).toBeUndefined();
      }
    });

    it('find dead letters for 14 days, and not longer', async () => {
      const clock = { now: start };
      let removed = 0;
      const database = await backend.open<unknown>({
        migrations: [],
        now: () => clock.now,
        onDeadJobsRemoved: (count) => {
          removed += count;
        },
      });
      database.jobs.handle(
        'k',
        handler(async () => ({ kind: 'dead', reason: 'no' }), 100),
      );
      await database.jobs.start();
      const old = Array.from({ length: 600 }, (_, index) => String(index));
      await Promise.all(old.map((payload) => add(database, payload)));
      await database.jobs.idle();
      clock.now = start + 14 * 24 * 60 * 60_000;
      await add(database, 'young', { giveUpAt: clock.now + 1000 });
      await database.jobs.idle();
      expect([removed, (await countsOf(database))?.dead]).toEqual([0, 601]);
      clock.now += 60 * 60_000;
      await database.jobs.idle();
      expect([removed, (await countsOf(database))?.dead]).toEqual([600, 1]);
    });
  });
});
