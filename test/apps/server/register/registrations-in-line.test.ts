import { sql } from 'kysely';
import { afterEach, expect, it } from 'vitest';
import { beginPublishing } from '#server/event-queues/read-with-queue.js';
import { eachPostgres } from '../../../support/test-databases.js';
import { ServerUnderTest } from '../server-under-test.js';

let test: ServerUnderTest | undefined;
afterEach(() => test?.close());

/** So many read at once, so many wait of one user, and one is too many. */
const [atOnce, inLine, refused] = [3, 20, 1];
const registrations = atOnce + inLine + refused;

eachPostgres((postgres) => {
  it('leaves others connections while many registrations wait for what is being published, and refuses one too many of a user', async () => {
    test = await ServerUnderTest.start({ databaseUrl: await postgres.freshUrl() });
    const { db } = test.server.database;
    const ada = await test.addAccount('ada@example.com');
    const bob = await test.addAccount('bob@example.com');
    const answers = await db.transaction().execute(async (transaction) => {
      await beginPublishing({ db: transaction });
      const asked = Array.from({ length: registrations }, () => test?.ask(ada, 'POST', 'register'));
      const waiting = sql<{
        pid: number;
      }>`select pid from pg_locks where locktype = 'advisory' and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await expect.poll(async () => (await waiting.execute(transaction)).rows.length).toBe(atOnce);
      const early = await Promise.race(asked);
      expect([early?.status, early?.body.code]).toEqual([429, 'RATE_LIMIT_HIT']);
      expect(early?.headers['retry-after']).toBe('2');
      expect((await test?.ask(bob, 'GET', 'users/me'))?.status).toBe(200);
      expect((await waiting.execute(transaction)).rows.length).toBe(atOnce);
      return asked;
    });
    const statuses = (await Promise.all(answers)).map((answer) => answer?.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(atOnce + inLine);
    expect(statuses.filter((status) => status === 429)).toHaveLength(refused);
    expect(await db.selectFrom('event_queues').select('queue_id').execute()).toHaveLength(atOnce + inLine);
  });
});
