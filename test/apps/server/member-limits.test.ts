import { sql } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { refused, registered } from '../../support/relay-stand-in.js';
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
    it('are as many at once as are allowed in an hour, and then one more after each part of it, across a restart', async () => {
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
      test.now += 3_600_000;
      for (const id of ['5', '6', '7']) expect((await register(id)).status).toBe(200);
      expectLimited(await register('8'), 1200);
    });

    it('are not those that change nothing, of which a phone may send as many as it likes; one that failed counts again', async () => {
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

    it('are refused to nobody for what was written before the clock was set back', async () => {
      const test = await start(await backend.freshUrl(), 1);
      const ada = await test.addAccount('ada@example.com');
      await test.register(ada, testPhone('1').fields);
      test.now -= 3 * 3_600_000;
      expect((await test.register(ada, testPhone('1').fields)).status).toBe(200);
      expectLimited(await test.register(ada, testPhone('1').fields), 3600);
    });

    it('leave nothing behind once all may be made again', async () => {
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

  it('uses nothing of what its user is allowed', async () => {
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
    /** Asks both servers for all of it at once, and again where another registration was under way. */
    async function flood(servers: readonly ServerUnderTest[], accounts: readonly Account[], count: number) {
      const taken = new Map<Account, number>();
      const ask = async (index: number, account: Account) => {
        const phone = testPhone(String(index));
        for (;;) {
          const server = servers[index % servers.length] as ServerUnderTest;
          const { status, body } = await server.register(account, phone.fields);
          if (status === 429 && body['retry-after'] === 1) continue;
          if (status === 200) taken.set(account, (taken.get(account) ?? 0) + 1);
          return status;
        }
      };
      const statuses = await Promise.all(
        Array.from({ length: count }, (_, index) =>
          // Each server in another order, in which transactions that wait for each other would be found.
          (index % 2 === 0 ? accounts : accounts.toReversed()).map((account) => ask(index, account)),
        ).flat(),
      );
      return { taken: accounts.map((account) => taken.get(account)), statuses: new Set(statuses) };
    }

    it('allow a user together what one of them allows, and never wait for each other', async () => {
      const url = await backend.freshUrl();
      const [one, other] = [await start(url, 5), await start(url, 5)];
      const accounts: Account[] = [];
      for (let index = 0; index < 6; index += 1)
        accounts.push(await one.addAccount(`user${index}@example.com`));
      expect(await flood([one, other], accounts, 14)).toEqual({
        taken: accounts.map(() => 5),
        statuses: new Set([200, 429]),
      });
      // Transactions that wait for each other do so for a second, and then one is done again.
      const { db } = one.server.database;
      const { rows } = await sql<{ deadlocks: number }>`
        select deadlocks from pg_stat_database where datname = current_database()`.execute(db);
      expect(rows).toEqual([{ deadlocks: 0 }]);
    });

    it('let a user have a thousand devices and not one more', async () => {
      const url = await backend.freshUrl();
      const [one, other] = [await start(url, 1000), await start(url, 1000)];
      const ada = await one.addAccount('ada@example.com');
      const row = { user_id: ada.userId, generation: 1, registration_hash: '', changed_at: 0 };
      const rows = Array.from({ length: 995 }, (_, index) => ({ ...row, push_account_id: `-${index + 1}` }));
      await one.server.database.db.insertInto('push_devices').values(rows).execute();
      expect(await flood([one, other], [ada], 20)).toEqual({ taken: [5], statuses: new Set([200, 400]) });
      expect(Object.keys((await one.pushDevices(ada)) as object)).toHaveLength(1000);
    });
  });
});
