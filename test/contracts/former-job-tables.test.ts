import type { Job } from '@waxwing/jobs';
import { sql } from 'kysely';
import pg from 'pg';
import { PgBoss } from 'pg-boss';
import { describe, expect, it } from 'vitest';
import { idle } from '../support/idle.js';
import { handler, open, start } from '../support/job-queue-under-test.js';
import { eachPostgres, sqliteBackend, type TestBackend } from '../support/test-databases.js';

/** Turns a database back into one that has not seen the step after these. */
async function forgetLeaseTableStep(backend: TestBackend, url: string): Promise<void> {
  const database = await open(backend, { now: start }, url);
  await sql`delete from jobs_migrations where name = '0003-one-lease-table'`.execute(database.db);
  if (backend.name === 'postgres') {
    await sql`drop table jobs`.execute(database.db);
  } else {
    await sql`drop index jobs_leased`.execute(database.db);
    await sql`drop index jobs_due`.execute(database.db);
    await sql`create index jobs_due on jobs (kind, run_at, id)`.execute(database.db);
  }
  await database.close();
}

/** What kept the jobs on PostgreSQL before. */
async function startPgBoss(url: string): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false });
  // It closes its connections a moment after it says so, when the database may be gone already.
  boss.on('error', () => undefined);
  return await boss.start();
}

/** Does all jobs of the kind, and answers them as the handler got them, with the reason of the last attempt. */
async function doAll(backend: TestBackend, url: string, clock: { now: number }): Promise<Job[]> {
  const done: Job[] = [];
  const database = await open(backend, clock, url);
  database.jobs.handle(
    'push/forward',
    handler(async (job) => {
      done.push(job);
      return { kind: 'done' };
    }),
  );
  await database.jobs.start();
  await idle(database.jobs);
  await database.close();
  return done.sort((a, b) => Number(a.payload) - Number(b.payload));
}

const times = { createdAt: start - 1000, giveUpAt: start + 1_000_000 };

describe('jobs of the former tables', () => {
  it('on SQLite are done after the step, also those that a process was doing when it died', async () => {
    const backend = sqliteBackend();
    const url = await backend.freshUrl();
    const former = await open(backend, { now: start }, url);
    await sql`
      insert into jobs (kind, payload, created_at, run_at, give_up_at, attempt, leased_until, last_reason) values
        ('push/forward', '1', ${times.createdAt}, ${start}, ${times.giveUpAt}, 1, ${start + 9000}, null),
        ('push/forward', '2', ${times.createdAt}, ${start + 5000}, ${times.giveUpAt}, 3, null, 'busy')`.execute(
      former.db,
    );
    await former.close();
    await forgetLeaseTableStep(backend, url);
    const clock = { now: start };
    expect(await doAll(backend, url, clock)).toMatchObject([{ payload: '1', attempt: 2, ...times }]);
    clock.now = start + 5000;
    expect(await doAll(backend, url, clock)).toMatchObject([{ payload: '2', attempt: 4, ...times }]);
  });

  eachPostgres((backend) => {
    it('are done after the step, each once, with all that was known of it', async () => {
      const url = await backend.freshUrl();
      await forgetLeaseTableStep(backend, url);
      const boss = await startPgBoss(url);
      await boss.createQueue('push/forward', { retryLimit: 2_147_483_647 });
      await boss.createQueue('other');
      const data = (payload: string) => ({ payload, ...times, attempts: 0, reason: undefined });
      const later = new Date(start + 5000).toISOString();
      await boss.insert('push/forward', [{ data: data('1') }]);
      // A process was doing the first one when it died.
      expect(await boss.fetch('push/forward')).toHaveLength(1);
      await boss.insert('push/forward', [
        { data: { ...data('2'), attempts: 3, reason: 'busy' }, startAfter: later },
        ...Array.from({ length: 1500 }, (_, index) => ({
          data: data(String(index + 3)),
          startAfter: new Date(start - 400).toISOString(),
        })),
      ]);
      await boss.stop({ graceful: false });
      const clock = { now: start };
      const now = await doAll(backend, url, clock);
      expect(now).toHaveLength(1501);
      expect(now[0]).toMatchObject({ kind: 'push/forward', payload: '1', attempt: 2, ...times });
      clock.now = start + 5000;
      expect(await doAll(backend, url, clock)).toMatchObject([{ payload: '2', attempt: 4, ...times }]);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query("select to_regnamespace('pgboss') is null as gone");
      await client.end();
      expect(rows).toEqual([{ gone: true }]);
    });

    it('are left alone with those of another program, and the start says so', async () => {
      const url = await backend.freshUrl();
      await forgetLeaseTableStep(backend, url);
      const boss = await startPgBoss(url);
      await boss.createQueue('invoices');
      await boss.send('invoices', { number: 7 });
      await boss.stop({ graceful: false });
      await expect(open(backend, { now: start }, url)).rejects.toThrow(
        'holds jobs of another program (in the queue invoices)',
      );
    });
  });
});
