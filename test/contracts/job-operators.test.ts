import type { Job, JobPagesFilter } from '@waxwing/jobs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, onlyJob, open, recorder, start } from '../support/job-queue-under-test.js';
import { eachBackend } from '../support/test-databases.js';

describe('the job queue for operators', () => {
  eachBackend((backend) => {
    it('counts the jobs that are due, waiting, running and dead', async () => {
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
      // Polls, because the dead job's outcome may not be committed yet.
      const counts = { kind: 'k', due: 1, waiting: 1, running: 1, dead: 1 };
      await expect.poll(() => countsOf(database)).toEqual(counts);
      expect(await countsOf(database, 'other')).toEqual({
        kind: 'other',
        due: 1,
        waiting: 0,
        running: 0,
        dead: 0,
      });
      expect(await database.jobs.oldestDueAt()).toBe(start);
      const tally = await database.jobs.tally();
      expect(tally.find(({ kind }) => kind === 'k')).toEqual(await countsOf(database));
      expect(tally.map(({ kind }) => kind)).toEqual(['k']);
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

    it('counts at most ten thousand jobs, and includes dead jobs of kinds without a handler', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      const former = await open(backend, clock, url);
      former.jobs.handle(
        'gone',
        handler(async () => ({ kind: 'dead', reason: 'no' })),
      );
      await add(former, 'a', { kind: 'gone' });
      await former.jobs.start();
      await idle(former.jobs);
      await former.close();
      const database = await open(backend, clock, url);
      database.jobs.handle('k', recorder([]));
      await database.write(async (transaction) => {
        for (let index = 0; index < 10_001; index++) {
          const job = { kind: 'k', payload: '', runAt: start + 1, giveUpAt: start + 99 };
          await database.jobs.enqueue(transaction, job);
        }
      });
      await database.write(({ db }) =>
        sql`insert into dead_jobs (id, kind, payload, created_at, give_up_at, attempts, reason, died_at)
          with recursive numbers (number) as (
            select 1 union all select number + 1 from numbers where number <= 10000
          )
          select 'dead-' || number, 'frequent', '', 0, 0, 1, 'no', ${start} from numbers`.execute(db),
      );
      expect(await database.jobs.tally()).toEqual([
        { kind: 'k', due: 0, waiting: 10_000, running: 0, dead: 0 },
        { kind: 'frequent', due: 0, waiting: 0, running: 0, dead: 10_000 },
        { kind: 'gone', due: 0, waiting: 0, running: 0, dead: 1 },
      ]);
    });

    it('lists the oldest jobs first, dead or not, up to the limit', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      for (const payload of ['a', 'b', 'c']) {
        await add(database, payload, { runAt: start + 1000 });
        clock.now++;
      }
      database.jobs.handle(
        'dies',
        handler(async () => ({ kind: 'dead', reason: 'no' })),
      );
      await add(database, 'd', { kind: 'dies' });
      await database.jobs.start();
      await idle(database.jobs);
      const ofThese = async (limit: number) =>
        (await database.jobs.list({ limit })).filter(({ kind }) => !kind.startsWith('schedule/'));
      expect((await ofThese(2)).map(({ createdAt }) => createdAt)).toEqual([start, start + 1]);
      expect((await ofThese(9)).map(({ state }) => state)).toEqual(['waiting', 'waiting', 'waiting', 'dead']);
    });

    it('lists all jobs in pages, each job once, oldest first', async () => {
      const database = await open(backend, { now: start });
      const count = 5500;
      // Both kinds have several jobs in each millisecond.
      await database.write(async ({ db }) => {
        await sql`insert into dead_jobs (id, kind, payload, created_at, give_up_at, attempts, reason, died_at)
          with recursive numbers (number) as (
            select 1 union all select number + 1 from numbers where number < ${sql.lit(count)}
          )
          select 'dead-' || number, 'k', '', ${sql.lit(start)} + number / 3, 0, 1, 'no', 0 from numbers`.execute(
          db,
        );
        await sql`insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt)
          with recursive numbers (number) as (
            select 1 union all select number + 1 from numbers where number < ${sql.lit(count)}
          )
          select 'k', '', ${sql.lit(start)} + number / 7, ${sql.lit(start + 9999)}, ${sql.lit(start + 99999)}, 0
          from numbers`.execute(db);
      });
      const read = async (filter: JobPagesFilter) => {
        const jobs = [];
        for await (const page of database.jobs.pages({ kind: 'k', ...filter })) jobs.push(...page);
        return jobs;
      };
      const all = await read({});
      expect(new Set(all.map(({ id }) => id)).size).toBe(2 * count);
      expect(all).toHaveLength(2 * count);
      const instants = all.map(({ createdAt }) => createdAt);
      expect(instants).toEqual(instants.toSorted((a, b) => a - b));
      expect(await read({ limit: 5001 })).toEqual(all.slice(0, 5001));
      expect(await read({ state: 'dead' })).toEqual(all.filter(({ state }) => state === 'dead'));
      expect(await read({ state: 'waiting' })).toEqual(all.filter(({ state }) => state === 'waiting'));
      expect((await read({ text: 'DEAD-54' })).length).toBe(111);
    });

    it('makes a waiting job due immediately', async () => {
      const database = await open(backend, { now: start });
      const done: string[] = [];
      database.jobs.handle('k', recorder(done));
      await database.jobs.start();
      await add(database, 'a', { runAt: start + 5000 });
      expect(await database.jobs.retry((await onlyJob(database)).id)).toBe(true);
      await idle(database.jobs);
      expect(done).toEqual(['a']);
    });

    it('retries a dead job with its original lifetime', async () => {
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
      await idle(database.jobs);
      const dead = await onlyJob(database);
      clock.now = start + 10_000;
      broken = false;
      expect(await database.jobs.retry(dead.id)).toBe(true);
      await idle(database.jobs);
      expect(done).toMatchObject([{ payload: 'a', attempt: 1, giveUpAt: start + 10_700 }]);
      expect(await database.jobs.retry(dead.id)).toBe(false);
    });

    it('removes a waiting or dead job, but not a running or unknown job', async () => {
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

    it('keeps dead letters for 14 days, and not longer', async () => {
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
      await idle(database.jobs);
      clock.now = start + 14 * 24 * 60 * 60_000;
      await add(database, 'young', { giveUpAt: clock.now + 1000 });
      await idle(database.jobs);
      expect([removed, (await countsOf(database))?.dead]).toEqual([0, 601]);
      clock.now += 60 * 60_000;
      await idle(database.jobs);
      expect([removed, (await countsOf(database))?.dead]).toEqual([600, 1]);
    });

    it.each(['waiting', 'dead'] as const)(
      'changes a %s job together with its record, or not at all',
      async (state) => {
        const database = await open(backend, { now: start });
        database.jobs.handle(
          'k',
          handler(async () => ({ kind: 'dead', reason: 'no' })),
        );
        if (state === 'dead') {
          await add(database, 'one');
          await database.jobs.start();
          await expect.poll(async () => (await onlyJob(database)).state).toBe('dead');
          await database.jobs.stop(0);
        } else await add(database, 'one', { runAt: start + 500 });
        const before = await onlyJob(database);
        const failing = async () => {
          throw new Error('not recorded');
        };
        for (const change of ['retry', 'drop'] as const) {
          await expect(database.jobs[change](before.id, failing)).rejects.toThrow('not recorded');
          expect(await onlyJob(database)).toEqual(before);
        }
      },
    );
  });
});
