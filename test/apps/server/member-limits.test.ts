import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { accountIdText } from '../../support/ids.js';
import { notified, refused, registered } from '../../support/relay-stand-in.js';
import { eachBackend, eachPostgres, sqliteBackend } from '../../support/test-databases.js';
import { type Account, type Answer, ServerUnderTest, testPhone } from './server-under-test.js';

const running: ServerUnderTest[] = [];
afterEach(async () => {
  for (const test of running.splice(0).reverse()) await test.close();
});

async function start(databaseUrl: string, registrationsPerHour: number): Promise<ServerUnderTest> {
  const test = await ServerUnderTest.start({ databaseUrl, registrationsPerHour });
  running.push(test);
  test.relay.otherwise(registered(1));
  return test;
}

function expectLimited({ status, body, headers }: Answer, seconds: number): void {
  expect([status, body.code, body['retry-after'], headers['retry-after']]).toEqual([
    429,
    'RATE_LIMIT_HIT',
    seconds,
    String(seconds),
  ]);
}

eachBackend((backend) => {
  describe('the registrations of one user', () => {
    it('can use the hourly limit immediately and are then refilled one at a time, even across a restart', async () => {
      const test = await start(await backend.freshUrl(), 3);
      const ada = await test.addAccount('ada@example.com');
      const bob = await test.addAccount('bob@example.com');
      const register = (id: string, account = ada) => test.register(account, testPhone(id).fields);
      for (const id of ['1', '2', '3']) expect((await register(id)).status).toBe(200);
      expectLimited(await register('4'), 1200);
      expect(await test.pushDevices(ada)).not.toHaveProperty('4');
      expect((await register('4', bob)).status).toBe(200);
      await test.stop();
      test.now += 1_199_999;
      await test.boot();
      expectLimited(await register('4'), 1);
      test.now += 1;
      expect((await register('4')).status).toBe(200);
      expectLimited(await register('5'), 1200);
      // A user cannot accumulate more than the limit.
      test.now += 5 * 3_600_000;
      for (const id of ['5', '6', '7']) expect((await register(id)).status).toBe(200);
      expectLimited(await register('8'), 1200);
    });

    it('count only if they change something or retry a failed registration', async () => {
      const test = await start(await backend.freshUrl(), 2);
      const ada = await test.addAccount('ada@example.com');
      const phone = testPhone('1');
      test.relay.next(refused(400, 'BAD_REQUEST'));
      for (let count = 0; count < 4; count += 1) {
        expect((await test.register(ada, phone.fields)).status).toBe(200);
      }
      await test.settle();
      expect(await test.pushDevices(ada)).toMatchObject({ '1': { status: 'failed' } });
      expect((await test.register(ada, phone.fields)).status).toBe(200);
      await test.settle();
      expect(await test.pushDevices(ada)).toMatchObject({ '1': { status: 'active' } });
      for (let count = 0; count < 4; count += 1) {
        expect((await test.register(ada, phone.fields)).status).toBe(200);
      }
      expectLimited(await test.register(ada, testPhone('1').fields), 1800);
      expect(test.relay.requests).toHaveLength(2);
    });

    it('are not refused because of records from before the clock was set back', async () => {
      const test = await start(await backend.freshUrl(), 1);
      const ada = await test.addAccount('ada@example.com');
      await test.register(ada, testPhone('1').fields);
      test.now -= 3 * 3_600_000;
      expect((await test.register(ada, testPhone('1').fields)).status).toBe(200);
      expectLimited(await test.register(ada, testPhone('1').fields), 3600);
    });

    it('leave no rows behind once the limit is fully refilled', async () => {
      const test = await start(await backend.freshUrl(), 2);
      const ada = await test.addAccount('ada@example.com');
      await test.register(ada, testPhone('1').fields);
      test.now += 3_600_000;
      const bob = await test.addAccount('bob@example.com');
      await test.register(bob, testPhone('1').fields);
      await test.settle();
      const rows = test.server.database.db.selectFrom('registration_rates').select('user_id');
      expect(await rows.execute()).toEqual([{ user_id: bob.userId }]);
      expect(await test.server.metrics.text()).toContain(
        'waxwing_rows_removed_total{kind="full-registration-rate"} 1',
      );
    });
  });
});

describe('a registration that cannot be stored', () => {
  const backend = sqliteBackend();

  it('does not count toward its user’s limit', async () => {
    const test = await start(await backend.freshUrl(), 1);
    const ada = await test.addAccount('ada@example.com');
    await test.settle();
    const { db } = test.server.database;
    await sql`create trigger refuse before insert on jobs begin select raise(abort, 'refused'); end`.execute(
      db,
    );
    expect((await test.register(ada, testPhone('1').fields)).status).toBe(500);
    await sql`drop trigger refuse`.execute(db);
    expect((await test.register(ada, testPhone('1').fields)).status).toBe(200);
    expectLimited(await test.register(ada, testPhone('1').fields), 3600);
  });
});

describe('two servers on one database', () => {
  eachPostgres((backend) => {
    let servers: readonly [ServerUnderTest, ServerUnderTest];

    async function startTwo(registrationsPerHour: number): Promise<Account[]> {
      const url = await backend.freshUrl();
      servers = [await start(url, registrationsPerHour), await start(url, registrationsPerHour)];
      const accounts: Account[] = [];
      for (const name of ['ada', 'bob', 'eve', 'joe', 'kim', 'sue']) {
        accounts.push(await servers[0].addAccount(`${name}@example.com`));
      }
      return accounts;
    }

    /**
     * Sends requests from every account to both servers at once. Retries requests that got "another request is in
     * flight". Returns each account's statuses. The order differs between the servers, to expose deadlocks.
     */
    function flood(
      accounts: readonly Account[],
      count: number,
      ask: (server: ServerUnderTest, account: Account, index: number) => Promise<Answer>,
    ): Promise<number[][]> {
      const patiently = async (server: ServerUnderTest, account: Account, index: number) => {
        for (;;) {
          const { status, body } = await ask(server, account, index);
          if (status !== 429 || body['retry-after'] !== 1) return status;
        }
      };
      const answers = new Map<Account, Promise<number>[]>(accounts.map((account) => [account, []]));
      for (let index = 0; index < count; index += 1) {
        const [server, order] =
          index % 2 === 0 ? [servers[0], accounts] : [servers[1], accounts.toReversed()];
        for (const account of order) answers.get(account)?.push(patiently(server, account, index));
      }
      return Promise.all([...answers.values()].map(async (all) => (await Promise.all(all)).sort()));
    }

    const register = (server: ServerUnderTest, account: Account, index: number) =>
      server.register(account, testPhone(String(index)).fields);

    /** PostgreSQL detects a deadlock after a second, and the server retries that transaction. */
    async function expectNoDeadlocks(): Promise<void> {
      const { rows } = await sql<{ deadlocks: number }>`
        select deadlocks from pg_stat_database where datname = current_database()`.execute(
        servers[0].server.database.db,
      );
      expect(rows).toEqual([{ deadlocks: 0 }]);
    }

    it('share one registration limit per user, without deadlocks', async () => {
      const accounts = await startTwo(5);
      const each = [...Array(5).fill(200), ...Array(9).fill(429)];
      expect(await flood(accounts, 14, register)).toEqual(accounts.map(() => each));
      await expectNoDeadlocks();
    });

    it('share the limit of a thousand devices per user', async () => {
      const [ada] = await startTwo(1000);
      if (ada === undefined) throw new Error('nobody is there');
      const row = { user_id: ada.userId, generation: 1, registration_hash: '', changed_at: Date.now() };
      const rows = Array.from({ length: 995 }, (_, index) => ({
        ...row,
        push_account_id: accountIdText(-index - 1),
      }));
      await servers[0].server.database.db.insertInto('push_devices').values(rows).execute();
      const [statuses] = await flood([ada], 20, register);
      expect(statuses).toEqual([...Array(5).fill(200), ...Array(15).fill(400)]);
      expect(Object.keys((await servers[0].pushDevices(ada)) as object)).toHaveLength(1000);
    });

    it('send one test notification to each device in ten seconds, without deadlocks', async () => {
      const accounts = await startTwo(60);
      for (const [index, account] of accounts.entries()) {
        servers[0].relay.otherwise(registered(index + 1));
        servers[1].relay.otherwise(registered(index + 1));
        await register(servers[0], account, 1);
        await servers[0].settle();
        await servers[1].settle();
      }
      for (const { relay } of servers) relay.otherwise(notified());
      const statuses = await flood(accounts, 14, (server, account) =>
        server.ask(account, 'POST', 'mobile_push/e2ee/test_notification'),
      );
      expect(statuses).toEqual(accounts.map(() => [200, ...Array(13).fill(429)]));
      await expectNoDeadlocks();
    });

    it('share the limit of fifty event queues per user, without deadlocks', async () => {
      const accounts = await startTwo(60);
      const [{ server }] = servers;
      const rows = accounts.flatMap(({ userId }) =>
        Array.from({ length: 60 }, (_, index) => ({
          queue_id: `${userId} ${index}`,
          user_id: userId,
          event_types: null,
          last_event_id: -1,
          acknowledged_event_id: -1,
          last_used_at: servers[0].now - index,
        })),
      );
      await server.database.db.insertInto('event_queues').values(rows).execute();
      const ask = (asked: ServerUnderTest, account: Account) => asked.ask(account, 'POST', 'register');
      expect(await flood(accounts, 14, ask)).toEqual(accounts.map(() => Array(14).fill(200)));
      await expectNoDeadlocks();
      for (const account of accounts) await ask(servers[0], account);
      const { count } = await server.database.db
        .selectFrom('event_queues')
        .select((is) => is.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow();
      expect(count).toBe(50 * accounts.length);
    });
  });
});
