import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { beginPublishing } from '#server/event-queues/read-with-queue.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { ServerUnderTest } from '../server-under-test.js';

let test: ServerUnderTest | undefined;
afterEach(() => test?.close());

const registrations = 14;

eachPostgres((postgres) => {
  it('leaves others connections while many registrations wait for what is being published', async () => {
    test = await ServerUnderTest.start({ databaseUrl: await postgres.freshUrl() });
    const { db } = test.server.database;
    const ada = await test.addAccount('ada@example.com');
    const bob = await test.addAccount('bob@example.com');
    const answers = await db.transaction().execute(async (transaction) => {
      await beginPublishing({ db: transaction });
      const asked = Array.from({ length: registrations }, () => test?.ask(ada, 'POST', 'register'));
      const queues = transaction.selectFrom('event_queues').select('queue_id');
      await expect.poll(async () => (await queues.execute()).length).toBe(registrations);
      const waiting = sql<{
        pid: number;
      }>`select pid from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(async () => (await waiting.execute(transaction)).rows.length).toBeGreaterThan(0);
      expect((await test?.ask(bob, 'GET', 'users/me'))?.status).toBe(200);
      expect((await waiting.execute(transaction)).rows.length).toBeLessThan(registrations);
      return asked;
    });
    const statuses = (await Promise.all(answers)).map((answer) => answer?.status);
    expect(statuses).toEqual(Array(registrations).fill(200));
  });
});
