import type { DatabaseWithJobs } from '@waxwing/jobs';
import { columnTypes, DatabaseUnavailableError, type MigrationSet } from '@waxwing/storage';
import { type Kysely, sql } from 'kysely';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { Heard } from '../../support/heard.js';
import { eachPostgres, type TestBackend } from '../../support/test-databases.js';

interface Tables {
  notes: { text: string };
}

const notes: MigrationSet = {
  unit: 'notes',
  migrations: {
    '0001-notes': {
      up: (db: Kysely<unknown>) =>
        db.schema
          .createTable('notes')
          .addColumn('text', columnTypes.text, (c) => c.primaryKey())
          .execute(),
    },
  },
};

const proxies: CuttableProxy[] = [];

async function openThroughProxy(backend: TestBackend, errors: unknown[]) {
  const url = new URL(await backend.freshUrl());
  const proxy = new CuttableProxy({ host: url.hostname, port: Number(url.port || 5432) });
  await proxy.open();
  proxies.push(proxy);
  url.host = `127.0.0.1:${proxy.port}`;
  const database = await backend.open<Tables>({
    migrations: [notes],
    url: url.href,
    onJobError: (error) => errors.push(error),
  });
  return { database, proxy };
}

function insert(database: DatabaseWithJobs<Tables>, text: string): Promise<unknown> {
  return database.write(({ db }) => db.insertInto('notes').values({ text }).execute());
}

/** Polls until the database responds in time, because the machine may be busy. */
async function expectAnswers(database: DatabaseWithJobs<Tables>): Promise<void> {
  await expect.poll(() => database.check(), { timeout: 15_000 }).toBeUndefined();
}

describe('a database outage', () => {
  eachPostgres((backend) => {
    afterEach(async () => {
      await Promise.all(proxies.splice(0).map((proxy) => proxy.cut()));
    });

    it('makes reads and writes fail until the database is back', async () => {
      const { database, proxy } = await openThroughProxy(backend, []);
      await insert(database, 'before');
      await proxy.cut();
      const results = await Promise.allSettled([
        insert(database, 'a'),
        insert(database, 'b'),
        database.db.selectFrom('notes').selectAll().execute(),
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ status: 'rejected', reason: { code: 'DATABASE_UNAVAILABLE' } });
      }
      expect(await database.check()).toMatch(/does not answer|has not answered/);
      const refusal = () => insert(database, 'c').catch(({ message }: Error) => message);
      const sentence = `The database does not answer: nothing listens at 127.0.0.1, port ${proxy.port}.`;
      await expect.poll(refusal).toBe(sentence);
      await proxy.open();
      await insert(database, 'after');
      await expectAnswers(database);
      const rows = await database.db.selectFrom('notes').select('text').orderBy('text').execute();
      expect(rows).toEqual([{ text: 'after' }, { text: 'before' }]);
    });

    it('rolls back a transaction in flight', async () => {
      const { database, proxy } = await openThroughProxy(backend, []);
      const broken = database.write(async ({ db }) => {
        await db.insertInto('notes').values({ text: 'half' }).execute();
        await proxy.cut();
        await db.insertInto('notes').values({ text: 'other half' }).execute();
      });
      await expect(broken).rejects.toBeInstanceOf(DatabaseUnavailableError);
      await proxy.open();
      expect(await database.db.selectFrom('notes').selectAll().execute()).toEqual([]);
    });

    it('loses no job, and jobs run again afterwards without a restart', async () => {
      const errors: unknown[] = [];
      const { database, proxy } = await openThroughProxy(backend, errors);
      const done = new Set<string>();
      let cutNow: (() => Promise<void>) | undefined = () => proxy.cut();
      const bothDone = new Promise<void>((resolve) => {
        database.jobs.handle('k', {
          concurrency: 1,
          run: async ({ payload }) => {
            await cutNow?.();
            cutNow = undefined;
            done.add(payload);
            if (done.size === 2) resolve();
            return { kind: 'done' };
          },
          giveUp: () => async () => {},
        });
      });
      const giveUpAt = Date.now() + 600_000;
      await database.write(async (transaction) => {
        for (const payload of ['a', 'b'])
          await database.jobs.enqueue(transaction, { kind: 'k', payload, giveUpAt });
      });
      await database.jobs.start();
      await expect.poll(() => errors.length).toBeGreaterThan(0);
      expect(errors[0]).toBeInstanceOf(DatabaseUnavailableError);
      await proxy.open();
      await bothDone;
      expect([...done].sort()).toEqual(['a', 'b']);
    });

    it('is noticed by listeners even if their connection was cut silently', async () => {
      const { database, proxy } = await openThroughProxy(backend, []);
      const heard = new Heard();
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        await database.signals.listen('birds', heard.listener);
        proxy.silence();
        // The interval between two checks of the listening connection, and the timeout of a check.
        for (const milliseconds of [10_000, 5000]) await vi.advanceTimersByTimeAsync(milliseconds);
        // The listener reconnects as soon as the old connection has ended.
        const afterAnother = async (milliseconds: number) => {
          await vi.advanceTimersByTimeAsync(milliseconds);
          return heard.all;
        };
        await expect.poll(() => afterAnother(100)).toHaveLength(1);
      } finally {
        vi.useRealTimers();
      }
      expect(heard.all).toEqual([undefined]);
    });

    it('leaves no connection that still waits for a response', async () => {
      const url = new URL(await backend.freshUrl());
      // Creates the tables before the query timeout is set, because that may take longer.
      await (await backend.open<Tables>({ migrations: [notes], url: url.href })).close();
      url.searchParams.set('query_timeout', '5000');
      const database = await backend.open<Tables>({ migrations: [notes], url: url.href, connections: 2 });
      const late = Array.from({ length: 2 }, () => sql`select pg_sleep(60)`.execute(database.db));
      for (const outcome of await Promise.allSettled(late)) {
        expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(DatabaseUnavailableError) });
      }
      await expectAnswers(database);
    });

    it('is soon reported as not ready if the database does not respond', async () => {
      const { database, proxy } = await openThroughProxy(backend, []);
      await expectAnswers(database);
      proxy.silence();
      expect(await database.check()).toBe('the database has not answered for 3 s');
    });

    it('notifies listeners that they may have missed signals, and delivers later signals', async () => {
      const { database, proxy } = await openThroughProxy(backend, []);
      const heard = new Heard();
      await database.signals.listen('birds', heard.listener);
      await proxy.cut();
      await proxy.open();
      await heard.until((all) => all.length > 0);
      expect(heard.all).toEqual([undefined]);
      await database.write((transaction) => database.signals.notify(transaction, 'birds', 'again'));
      await heard.until((all) => all.length > 1);
      expect(heard.all).toEqual([undefined, 'again']);
    });
  });
});
