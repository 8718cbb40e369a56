import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { QueueListener } from '#server/platform/event-queues/queue-listeners.js';
import { eachBackend } from '../../../support/test-databases.js';
import {
  createDevice,
  devicesOf,
  keyFields,
  tokenFields,
  tokenIdOf,
  tokenRegistered,
} from '../push/client-device-under-test.js';
import { type Account, type Answer, ServerUnderTest } from '../server-under-test.js';

const path = 'users/me/api_key/regenerate';

eachBackend((backend) => {
  let test: ServerUnderTest;
  let ada: Account;
  beforeEach(async () => {
    test = await ServerUnderTest.start({ databaseUrl: await backend.freshUrl() });
    test.relay.otherwise(tokenRegistered);
    ada = await test.addAccount('ada@example.com');
  });
  afterEach(() => test.close());

  const regenerate = (account: Account) => test.ask(account, 'POST', path);
  const withKey = (account: Account, { body }: Answer): Account => {
    const apiKey = String(body.api_key);
    const pair = Buffer.from(`${account.email}:${apiKey}`).toString('base64');
    return { ...account, apiKey, authorization: `Basic ${pair}` };
  };
  const activeDevice = async (account: Account, token: string) => {
    const id = await createDevice(test, account);
    await test.register(account, { device_id: String(id), ...keyFields(7), ...tokenFields(token) });
    await test.settle();
    return id;
  };
  const requestsTo = (end: string) => test.relay.requests.filter((request) => request.path.endsWith(end));

  describe('POST /users/me/api_key/regenerate', () => {
    it('returns a new key and revokes the old keys', async () => {
      const answer = await regenerate(ada);
      expect([answer.status, answer.body]).toEqual([
        200,
        {
          result: 'success',
          msg: '',
          api_key: expect.stringMatching(/^[A-Za-z0-9]{32}$/),
          revoked_invitations: 0,
        },
      ]);
      expect(answer.body.api_key).not.toBe(ada.apiKey);
      expect((await test.ask(withKey(ada, answer), 'GET', 'users/me')).status).toBe(200);
      for (const request of [test.ask(ada, 'GET', 'users/me'), regenerate(ada)]) {
        expect(await request).toMatchObject({ status: 401, body: { code: 'INVALID_API_KEY' } });
      }
    });

    it('removes only this user’s phones, and has the relay delete their tokens', async () => {
      await activeDevice(ada, 'first');
      await activeDevice(ada, 'second');
      const bob = await test.addAccount('bob@example.com');
      const other = await activeDevice(bob, 'third');
      const renewed = withKey(ada, await regenerate(ada));
      expect(await devicesOf(test, renewed)).toEqual({});
      expect(Object.keys(await devicesOf(test, bob))).toEqual([String(other)]);
      await test.settle();
      const removed = requestsTo('/remove').flatMap(
        ({ body }) => JSON.parse(new URLSearchParams(body).get('token_ids') ?? '[]') as string[],
      );
      expect(removed.sort()).toEqual([tokenIdOf('first'), tokenIdOf('second')].sort());
      expect((await test.ask(renewed, 'POST', 'mobile_push/e2ee/test_notification')).body).toMatchObject({
        code: 'NO_ACTIVE_PUSH_DEVICE',
      });
      expect(requestsTo('/notify')).toEqual([]);
    });

    it('notifies other clients by ending their queues, including one with a waiting poll', async () => {
      const { body } = await test.ask(ada, 'POST', 'register', { fetch_event_types: '[]' });
      const poll = { queue_id: String(body.queue_id), last_event_id: '-1' };
      const waits = vi.spyOn(QueueListener.prototype, 'wait');
      const waiting = test.ask(ada, 'GET', 'events', poll);
      await expect.poll(() => waits.mock.calls).toHaveLength(1);
      waits.mockRestore();
      const renewed = withKey(ada, await regenerate(ada));
      const ended = { status: 400, body: { code: 'BAD_EVENT_QUEUE_ID' } };
      expect(await waiting).toMatchObject(ended);
      expect(await test.ask(renewed, 'GET', 'events', poll)).toMatchObject(ended);
    });

    it('gives one of two concurrent requests a key, and refuses the other request', async () => {
      const answers = await Promise.all([regenerate(ada), regenerate(ada)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
      const renewed = withKey(ada, answers.find(({ status }) => status === 200) as Answer);
      expect((await test.ask(renewed, 'GET', 'users/me')).status).toBe(200);
    });

    it('is refused for bots and without a key', async () => {
      const bot = await test.addAccount('bot@example.com', { isBot: true });
      expect(await regenerate(bot)).toMatchObject({
        status: 400,
        body: { code: 'BAD_REQUEST', msg: 'This endpoint does not accept bot requests.' },
      });
      expect(await test.ask(undefined, 'POST', path)).toMatchObject({
        status: 401,
        body: { code: 'UNAUTHORIZED' },
      });
      expect((await test.ask(bot, 'GET', 'users/me')).status).toBe(200);
    });

    it('neither stores nor logs the key', async () => {
      const { body } = await regenerate(ada);
      const users = await test.server.database.db.selectFrom('users').selectAll().execute();
      expect(JSON.stringify(users)).not.toContain(String(body.api_key));
      expect(test.logged.text()).not.toContain(String(body.api_key));
    });
  });
});
