import { DatabaseUnavailableError } from '@waxwing/storage';
import { afterEach, describe, expect, it } from 'vitest';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, start } from '../support/job-queue-under-test.js';
import { eachBackend, eachPostgres } from '../support/test-databases.js';
import { turnAway } from '../support/turn-away.js';

const lease = 20_000;
/** Outcomes, jobs that are due and signals are tried each second. */
const manyTries = 6;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

describe('a job that ends while the database is away', () => {
  eachBackend((backend) => {
    it('is not run again: its outcome is recorded when the database is back', async () => {
      const errors: unknown[] = [];
      const database = await backend.open({
        migrations: [],
        now: () => start,
        onJobError: (error) => errors.push(error),
      });
      const attempts: number[] = [];
      const applied: number[] = [];
      const away = new DatabaseUnavailableError('away');
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          const apply = async () => {
            applied.push(attempt);
            if (applied.length < 3) throw away;
          };
          return { kind: 'done', apply };
        }),
      );
      await database.jobs.start();
      await add(database, 'a');
      await expect.poll(() => countsOf(database), { timeout: 20_000 }).toBeUndefined();
      expect([attempts, applied]).toEqual([[1], [1, 1, 1]]);
      expect(new Set(errors)).toEqual(new Set([away]));
    });
  });

  eachPostgres((backend) => {
    it.each([
      ['shortly', 0],
      ['for longer than its lease', lease + 1],
    ])('%s is not run again', async (_name, outage) => {
      const clock = { now: start };
      const url = new URL(await backend.freshUrl());
      const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
      await proxy.open();
      closers.push(() => proxy.cut());
      url.host = `127.0.0.1:${proxy.port}`;
      const database = await backend.open({
        migrations: [],
        url: url.href,
        now: () => clock.now,
        onJobError: () => undefined,
      });
      const attempts: number[] = [];
      let cut = (): void => undefined;
      const isCut = new Promise<void>((resolve) => {
        cut = resolve;
      });
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          await proxy.cut();
          cut();
          return { kind: 'done' };
        }),
      );
      await database.jobs.start();
      await add(database, 'a').catch(() => undefined);
      await isCut;
      const end = await turnAway(proxy.port, manyTries);
      clock.now += outage;
      await end();
      await proxy.open();
      await expect.poll(() => countsOf(database).catch(() => 'away'), { timeout: 20_000 }).toBeUndefined();
      clock.now += 10 * lease;
      await idle(database.jobs);
      expect(attempts).toEqual([1]);
    });
  });
});
