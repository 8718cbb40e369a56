import type { DatabaseWithJobs } from '@waxwing/jobs';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeaseTable } from '#jobs/lease-table.js';
import { CuttableProxy } from '../support/cuttable-proxy.js';
import { idle } from '../support/idle.js';
import { add, countsOf, handler, open, start } from '../support/job-queue-under-test.js';
import { eachBackend, eachPostgres, type TestBackend } from '../support/test-databases.js';

const lease = 20_000;
const renewal = 5_000;

/** Intervals (lease renewals) run only when a test advances the timers. Everything else runs normally. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Starts a job that never ends. Resolves once it runs. */
async function beginEndless(database: DatabaseWithJobs<unknown>): Promise<void> {
  const begun = new Promise<void>((resolve) => {
    database.jobs.handle(
      'k',
      handler(() => {
        resolve();
        return new Promise(() => undefined);
        // The limit of one job keeps this process from claiming the same job again.
      }, 1),
    );
  });
  await database.jobs.start();
  await add(database, 'a', { giveUpAt: start + 10 * 365 * 86_400_000 });
  await begun;
}

/** Expiry of the only job's lease, in milliseconds after the start of the test. */
async function leaseEnd({ db }: DatabaseWithJobs<unknown>): Promise<number> {
  const query = sql<{ at: number }>`select leased_until as at from jobs where kind = 'k'`;
  return ((await query.execute(db)).rows[0]?.at ?? 0) - start;
}

/** Starts a second process that counts how often it claims the job. */
async function survivor(backend: TestBackend, clock: { now: number }, url: string) {
  const database = await open(backend, clock, url);
  const attempts: number[] = [];
  database.jobs.handle(
    'k',
    handler(async ({ attempt }) => {
      attempts.push(attempt);
      return { kind: 'done' };
    }),
  );
  await database.jobs.start();
  return { database, attempts };
}

describe('the lease of a job', () => {
  eachBackend((backend) => {
    it('is renewed while the job runs', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      await beginEndless(database);
      expect(await leaseEnd(database)).toBe(lease);
      for (let elapsed = renewal; elapsed <= 3 * lease; elapsed += renewal) {
        clock.now = start + elapsed;
        vi.advanceTimersByTime(renewal);
        await expect.poll(() => leaseEnd(database)).toBe(elapsed + lease);
      }
      expect(await countsOf(database)).toMatchObject({ running: 1 });
    });

    it('is not renewed after the job is rescheduled, so the job starts on time', async () => {
      const clock = { now: start };
      const database = await open(backend, clock);
      const attempts: number[] = [];
      database.jobs.handle(
        'k',
        handler(async ({ attempt }) => {
          attempts.push(attempt);
          if (attempt > 1) return { kind: 'done' };
          // The renewal starts before the outcome is recorded, and commits after it.
          const apply = async () => void vi.advanceTimersByTime(renewal);
          return { kind: 'retry', at: start + 1000, reason: 'busy', apply };
        }),
      );
      await database.jobs.start();
      await add(database, 'a');
      await idle(database.jobs);
      clock.now = start + 1000;
      await idle(database.jobs);
      expect(attempts).toEqual([1, 2]);
    });
  });

  describe('when the queue stops during a renewal', () => {
    eachBackend((backend) => {
      /** Starts a queue that renews its lease until `end` is called. */
      async function startRenewing() {
        const database = await open(backend, { now: start });
        await database.jobs.start();
        await idle(database.jobs);
        let end = (): void => undefined;
        const renewing = vi.spyOn(LeaseTable.prototype, 'takeOver').mockImplementationOnce(
          () =>
            new Promise((resolve) => {
              end = resolve;
            }),
        );
        vi.advanceTimersByTime(renewal);
        await expect.poll(() => renewing.mock.calls.length).toBe(1);
        return { database, end: () => end() };
      }

      it('lets the renewal finish before the queue stops', async () => {
        const { database, end } = await startRenewing();
        const ended: string[] = [];
        const stopping = database.jobs.stop(60_000).then(() => ended.push('stop'));
        // A second queue can start and stop in the meantime, so without the renewal, `stopping` would have resolved.
        const other = await open(backend, { now: start });
        await other.jobs.start();
        await other.close();
        ended.push('renewal');
        end();
        await stopping;
        expect(ended).toEqual(['renewal', 'stop']);
      });

      it('does not delay the stop beyond its deadline', async () => {
        const { database } = await startRenewing();
        await database.jobs.stop(20);
      });
    });
  });

  eachPostgres((backend) => {
    it('expires after its process dies, and another process takes over the job', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      await beginEndless(await open(backend, clock, url));
      // Without its timers, the queue of the first process does not renew its lease.
      vi.clearAllTimers();
      const { attempts } = await survivor(backend, clock, url);
      clock.now = start + lease + 1;
      vi.advanceTimersByTime(renewal);
      await expect.poll(() => attempts).toEqual([2]);
    });

    it('expires even if the clock of its process was a year ahead', async () => {
      const clock = { now: start + 365 * 86_400_000 };
      const url = await backend.freshUrl();
      await beginEndless(await open(backend, clock, url));
      vi.clearAllTimers();
      clock.now += 3_600_000 - 365 * 86_400_000;
      const { attempts, database } = await survivor(backend, clock, url);
      const [job] = await database.jobs.list({ kind: 'k' });
      expect(await database.jobs.retry(job?.id ?? '')).toBe(true);
      await expect.poll(() => attempts).toEqual([2]);
    });

    it('is not taken over right after an outage, so that its process can renew it first', async () => {
      const clock = { now: start };
      const url = await backend.freshUrl();
      await beginEndless(await open(backend, clock, url));
      vi.clearAllTimers();
      const proxied = new URL(url);
      const proxy = new CuttableProxy({ host: proxied.hostname, port: Number(proxied.port || 5432) });
      await proxy.open();
      proxied.host = `127.0.0.1:${proxy.port}`;
      const errors: unknown[] = [];
      const other = await backend.open<unknown>({
        migrations: [],
        url: proxied.href,
        now: () => clock.now,
        onJobError: (error) => errors.push(error),
      });
      await other.jobs.start();
      await proxy.cut();
      for (let elapsed = renewal; elapsed <= 2 * lease; elapsed += renewal) {
        const told = errors.length;
        clock.now = start + elapsed;
        vi.advanceTimersByTime(renewal);
        await expect.poll(() => errors.length).toBeGreaterThan(told);
      }
      await proxy.open();
      const running = async () => (await countsOf(other))?.running;
      // The first round after the outage does not take over leases, because their own processes may be about to renew
      // them.
      vi.advanceTimersByTime(renewal);
      await expect.poll(running).toBe(1);
      for (let asked = 0; asked < 20; asked++) expect(await running()).toBe(1);
      const afterAnother = () => {
        vi.advanceTimersByTime(renewal);
        return running();
      };
      await expect.poll(afterAnother).toBe(0);
      await other.close();
      await proxy.cut();
    });
  });
});
