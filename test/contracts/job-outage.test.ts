import type { DatabaseWithJobs } from '@waxwing/jobs';
import { DatabaseUnavailableError } from '@waxwing/storage';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DurableJobQueue } from '#jobs/durable-job-queue.js';
import { LeaseTable } from '#jobs/lease-table.js';
import { OutcomeRecorder } from '#jobs/outcome-recorder.js';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, start } from '../support/job-queue-under-test.js';
import { eachBackend, eachPostgres } from '../support/test-databases.js';
import { turnAway } from '../support/turn-away.js';

const lease = 20_000;
/** Outcomes, due jobs and signals are retried every second. */
const manyTries = 6;
/** Maximum number of transactions that one process has open. */
const maximumWriters = 2;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * Delays the next outcome of a job and the next claim until both can be committed in one transaction, in this order.
 */
function claimInTheSameCommit(database: DatabaseWithJobs<unknown>): void {
  const { record } = OutcomeRecorder.prototype;
  const { claim } = LeaseTable.prototype;
  const recorded = latch();
  const claimed = latch();
  vi.spyOn(OutcomeRecorder.prototype, 'record').mockImplementationOnce(function (
    this: OutcomeRecorder,
    ...it
  ) {
    for (let writer = 0; writer < maximumWriters; writer++) void database.write(() => claimed.opened);
    recorded.open();
    return record.apply(this, it);
  });
  vi.spyOn(LeaseTable.prototype, 'claim').mockImplementation(async function (this: LeaseTable, kind, limit) {
    // Other kinds are not claimed, to prevent a deadlock: their claim would wait for a free writer, while the writers
    // wait for the claim of `k`.
    if (kind !== 'k') return [];
    await recorded.opened;
    await new Promise((resolve) => setImmediate(resolve));
    claimed.open();
    return await claim.call(this, kind, limit);
  });
  (database.jobs as DurableJobQueue).runner.wake(['k']);
}

function latch() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

describe('a job that ends during a database outage', () => {
  eachBackend((backend) => {
    it('does not run again, and its outcome is recorded once the database is back', async () => {
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

  eachBackend((backend) => {
    it.each([
      ['due immediately', 0],
      ['due later', 1],
    ])(
      'does not settle a next attempt, %s, that starts before its outcome is recorded',
      async (_name, delay) => {
        const clock = { now: start };
        const database = await backend.open({
          migrations: [],
          now: () => clock.now,
          onJobError: () => undefined,
        });
        const attempts: number[] = [];
        const applied: number[] = [];
        const apply = async () => {
          applied.push(attempts.length);
          if (applied.length > 1) return;
          claimInTheSameCommit(database);
          throw new DatabaseUnavailableError('away');
        };
        database.jobs.handle(
          'k',
          handler(async ({ attempt }) => {
            attempts.push(attempt);
            if (attempt > 1) return { kind: 'done' };
            clock.now = start + delay;
            return { kind: 'retry', at: clock.now, reason: 'busy', apply };
          }),
        );
        await database.jobs.start();
        await idle(database.jobs);
        await add(database, 'a');
        await expect.poll(() => countsOf(database), { timeout: 20_000 }).toBeUndefined();
        expect([attempts, applied]).toEqual([
          [1, 2],
          [1, 1],
        ]);
      },
    );
  });

  eachBackend((backend) => {
    it('does not settle the next attempt if the connection is lost after the commit of its outcome', async () => {
      const clock = { now: start };
      const database = await backend.open({
        migrations: [],
        now: () => clock.now,
        onJobError: () => (database.jobs as DurableJobQueue).runner.wake(['k']),
      });
      const { record } = OutcomeRecorder.prototype;
      const attempts: number[] = [];
      const applied: number[] = [];
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt > 1) return { kind: 'done' };
          clock.now += 1;
          vi.spyOn(OutcomeRecorder.prototype, 'record').mockImplementationOnce(async function (
            this: OutcomeRecorder,
            ...it
          ) {
            await record.apply(this, it);
            throw new DatabaseUnavailableError('The connection was lost before it reported the commit.');
          });
          return {
            kind: 'retry',
            at: clock.now,
            reason: 'busy',
            apply: async () => void applied.push(attempt),
          };
        }),
      );
      await database.jobs.start();
      await idle(database.jobs);
      await add(database, 'a');
      await expect.poll(() => countsOf(database), { timeout: 20_000 }).toBeUndefined();
      expect([attempts, applied]).toEqual([[1, 2], [1]]);
    });
  });

  eachPostgres((backend) => {
    it.each([
      ['a short outage', 0],
      ['an outage longer than its lease', lease + 1],
    ])('does not run again after %s', async (_name, outage) => {
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
