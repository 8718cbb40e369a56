import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { registered } from '../../support/relay-stand-in.js';
import { eachBackend } from '../../support/test-databases.js';
import { type Account, ServerUnderTest, testPhone } from './server-under-test.js';

const accountId = '9007199254740993';
const removePath = '/api/v1/remotes/push/e2ee/remove';
const done = { status: 200, body: { result: 'success', msg: '' } };

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  beforeEach(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(() => test.close());

  async function register(account: Account, relayDeviceId: number, pushAccountId = accountId) {
    test.relay.next(registered(relayDeviceId));
    await test.register(account, testPhone(pushAccountId).fields);
    await test.settle();
  }

  const unregister = (account: Account, fields: Record<string, string> = { push_account_id: accountId }) =>
    test.ask(account, 'DELETE', 'mobile_push/register', fields);

  const removals = () =>
    test.relay.requests
      .filter(({ path }) => path === removePath)
      .map(({ body }) => new URLSearchParams(body).get('device_ids'));

  describe('DELETE /mobile_push/register', () => {
    it('removes only the caller’s phone, immediately and also from the relay', async () => {
      const bob = await test.addAccount('bob@example.com');
      await register(ada, 7);
      await register(ada, 8, '2');
      await register(bob, 9);
      test.relay.otherwise(done);
      const answer = await unregister(ada);
      expect([answer.status, answer.body]).toEqual([200, { result: 'success', msg: '' }]);
      await test.settle();
      expect(Object.keys(Object(await test.pushDevices(ada)))).toEqual(['2']);
      expect(Object.keys(Object(await test.pushDevices(bob)))).toEqual([accountId]);
      expect(removals()).toEqual(['[7]']);
      const sent = await test.ask(ada, 'POST', 'mobile_push/e2ee/test_notification', {
        push_account_id: accountId,
      });
      expect(sent.body).toMatchObject({ code: 'NO_ACTIVE_PUSH_DEVICE' });
    });

    it('retries the removal while the relay is down, even after a restart', async () => {
      await register(ada, 7);
      test.relay.otherwise({ status: 503 });
      expect((await unregister(ada)).status).toBe(200);
      await test.settle();
      await test.stop();
      await test.boot();
      test.relay.otherwise(done);
      test.now += 3_600_000;
      await test.settle();
      expect(removals().at(-1)).toBe('[7]');
      const asked = removals().length;
      test.now += 3_600_000;
      await test.settle();
      expect(removals()).toHaveLength(asked);
    });

    it('calls a stock relay, which lacks this operation, only once', async () => {
      await register(ada, 7);
      test.relay.otherwise({ status: 404, body: '<h1>Not Found</h1>' });
      await unregister(ada);
      await test.settle();
      test.now += 86_400_000;
      await test.settle();
      expect(removals()).toEqual(['[7]']);
    });

    it('cancels a registration that is pending at the relay', async () => {
      test.relay.otherwise({ status: 503 });
      await test.register(ada, testPhone(accountId).fields);
      await test.settle();
      expect((await unregister(ada)).status).toBe(200);
      test.relay.otherwise(registered(7));
      const asked = test.relay.requests.length;
      test.now += 3_600_000;
      await test.settle();
      expect(await test.pushDevices(ada)).toEqual({});
      expect(test.relay.requests).toHaveLength(asked);
    });

    it('is idempotent', async () => {
      await register(ada, 7);
      test.relay.otherwise(done);
      for (const _ of [1, 2]) expect((await unregister(ada)).status).toBe(200);
      await test.settle();
      expect(removals()).toEqual(['[7]']);
    });

    it('refuses bots, and requests without a valid phone', async () => {
      const bot = await test.addAccount('bot@example.com', { isBot: true });
      expect((await unregister(bot)).body).toMatchObject({ code: 'BAD_REQUEST' });
      expect((await unregister(ada, {})).body).toMatchObject({ code: 'REQUEST_VARIABLE_MISSING' });
      expect((await unregister(ada, { push_account_id: 'x' })).body).toMatchObject({ code: 'BAD_REQUEST' });
    });
  });
});
