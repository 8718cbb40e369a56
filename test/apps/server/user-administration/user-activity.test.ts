import { roles } from '@waxwing/server';
import { Secret } from '@waxwing/service/config';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { setPassword } from '#server/membership/user-administration/set-password.js';
import { QueueListener } from '#server/platform/event-queues/queue-listeners.js';
import { registered } from '../../../support/relay-stand-in.js';
import { eachBackend } from '../../../support/test-databases.js';
import { type Account, ServerUnderTest, testPhone } from '../server-under-test.js';

const password = 'correct horse battery';

eachBackend((backend) => {
  let test: ServerUnderTest;
  let owner: Account;
  let administrator: Account;
  let ada: Account;
  let people = 0;
  beforeAll(async () => {
    test = await ServerUnderTest.start({
      databaseUrl: await backend.freshUrl(),
      longPollTimeoutSeconds: 600,
    });
    owner = await test.addAccount('owner@example.com', { role: roles.owner });
    administrator = await test.addAccount('administrator@example.com', { role: roles.administrator });
  });
  afterAll(() => test.close());
  beforeEach(async () => {
    people += 1;
    ada = await test.addAccount(`ada${people}@example.com`);
  });

  const deactivate = (by: Account, whom: Account) => test.ask(by, 'DELETE', `users/${whom.userId}`);
  const reactivate = (by: Account, whom: Account) => test.ask(by, 'POST', `users/${whom.userId}/reactivate`);
  const statusOf = async (who: Account) => (await test.ask(who, 'GET', 'users/me')).status;
  const isActive = async (whom: Account) =>
    ((await test.ask(owner, 'GET', `users/${whom.userId}`)).body.user as { is_active: boolean }).is_active;
  const told = (whom: Account, active: boolean) => ({
    type: 'realm_user',
    op: 'update',
    person: { user_id: whom.userId, is_active: active },
  });
  async function openEvents(who: Account) {
    const read = await test.openQueue(who, { event_types: '["realm_user","invites_changed"]' });
    return async () => (await read()).map(({ id: _, ...event }) => event);
  }
  async function ownedBot(): Promise<Account> {
    const bot = await test.addAccount(`bot${people}@example.com`, { isBot: true });
    const { db } = test.server.database;
    await db.updateTable('users').set({ bot_owner_id: ada.userId }).where('id', '=', bot.userId).execute();
    return bot;
  }

  describe('a user who is deactivated', () => {
    it('is signed out everywhere with their bots, whether named by id or address, and all clients get events', async () => {
      const bot = await ownedBot();
      const events = await openEvents(owner);
      expect(await test.ask(administrator, 'DELETE', `users/${ada.email}`)).toMatchObject({
        status: 200,
        body: { result: 'success', msg: '' },
      });
      expect([await statusOf(ada), await statusOf(bot)]).toEqual([401, 401]);
      expect([await isActive(ada), await isActive(bot)]).toEqual([false, false]);
      const heard = await events();
      expect(heard).toHaveLength(2);
      expect(heard).toEqual(expect.arrayContaining([told(ada, false), told(bot, false)]));
    });

    it('gets a response to a waiting poll', async () => {
      const { body } = await test.ask(ada, 'POST', 'register', { fetch_event_types: '[]' });
      const waits = vi.spyOn(QueueListener.prototype, 'wait');
      const waiting = test.ask(ada, 'GET', 'events', {
        queue_id: String(body.queue_id),
        last_event_id: '-1',
      });
      await expect.poll(() => waits.mock.calls).toHaveLength(1);
      waits.mockRestore();
      await deactivate(owner, ada);
      const { status, body: answer } = await waiting;
      expect([status, answer.code]).toEqual([400, 'BAD_EVENT_QUEUE_ID']);
    });

    it('loses all push devices', async () => {
      test.relay.otherwise(registered(1));
      await test.register(ada, testPhone('7').fields);
      await test.settle();
      const devices = () =>
        test.server.database.db
          .selectFrom('push_devices')
          .selectAll()
          .where('user_id', '=', ada.userId)
          .execute();
      expect(await devices()).toHaveLength(1);
      await deactivate(owner, ada);
      expect(await devices()).toEqual([]);
    });

    it('permanently loses their invitations', async () => {
      const inviter = await test.addAccount(`inviter${people}@example.com`, { role: roles.administrator });
      const { body } = await test.ask(inviter, 'POST', 'invites/multiuse');
      const { pathname } = new URL(String(body.invite_link));
      const page = async () => (await test.server.app.inject(pathname)).statusCode;
      expect(await page()).toBe(200);
      const events = await openEvents(administrator);
      await deactivate(owner, inviter);
      expect(await events()).toContainEqual({ type: 'invites_changed' });
      await reactivate(owner, inviter);
      expect(await page()).toBe(404);
    });

    it('keeps messages and profile: a request to delete any of them is refused', async () => {
      for (const what of [
        'delete_profile',
        'delete_public_channel_messages',
        'delete_private_channel_messages',
        'delete_direct_messages',
      ]) {
        const actions = JSON.stringify({ [what]: true });
        const { status, body } = await test.ask(owner, 'DELETE', `users/${ada.userId}`, { actions });
        expect([status, body.code, await isActive(ada)]).toEqual([400, 'BAD_REQUEST', true]);
        expect(body.msg).toContain('deletes neither messages nor profiles');
      }
      const nothing = JSON.stringify({ delete_profile: false });
      expect((await test.ask(owner, 'DELETE', `users/${ada.userId}`, { actions: nothing })).status).toBe(200);
      expect(await isActive(ada)).toBe(false);
    });

    it('can be the caller', async () => {
      expect((await test.ask(ada, 'DELETE', 'users/me')).status).toBe(200);
      expect([await statusOf(ada), await isActive(ada)]).toEqual([401, false]);
    });

    it('cannot be a bot that is the caller', async () => {
      const bot = await ownedBot();
      const { status, body } = await test.ask(bot, 'DELETE', 'users/me');
      expect([status, body.code, await isActive(bot)]).toEqual([400, 'BAD_REQUEST', true]);
    });

    it('cannot be deactivated a second time', async () => {
      await deactivate(owner, ada);
      const { status, body } = await deactivate(owner, ada);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'User is deactivated']);
    });

    it('cannot be the only owner, regardless of the caller', async () => {
      for (const path of ['users/me', `users/${owner.userId}`]) {
        const { status, body } = await test.ask(owner, 'DELETE', path);
        expect([status, body.code, body.msg]).toEqual([
          ...[400, 'BAD_REQUEST', 'Cannot deactivate the only organization owner'],
        ]);
      }
      expect(await isActive(owner)).toBe(true);
    });

    it('is only one of two owners who concurrently deactivate each other, or themselves', async () => {
      for (const isCrossed of [true, false]) {
        const second = await test.addAccount(`owner${people}-${isCrossed}@example.com`, {
          role: roles.owner,
        });
        const both = [owner, second] as const;
        const answers = await Promise.all(
          both.map((by, index) =>
            isCrossed ? deactivate(by, both[1 - index] ?? by) : test.ask(by, 'DELETE', 'users/me'),
          ),
        );
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
        const [left] = (await statusOf(owner)) === 200 ? both : [second];
        expect(await statusOf(left)).toBe(200);
        owner = left;
      }
    });
  });

  describe('a user who is reactivated', () => {
    it('can sign in with their password, has no earlier keys, and all clients get an event', async () => {
      await setPassword(
        test.server.database,
        () => test.now,
        ada.email,
        async () => new Secret(password),
      );
      const sign = () => test.ask(undefined, 'POST', 'fetch_api_key', { username: ada.email, password });
      const { body: before } = await sign();
      await deactivate(owner, ada);
      expect((await sign()).body.code).toBe('USER_DEACTIVATED');
      const events = await openEvents(owner);
      expect((await reactivate(administrator, ada)).status).toBe(200);
      expect(await events()).toEqual([told(ada, true)]);
      const withKey = (key: unknown): Account => ({
        ...ada,
        authorization: `Basic ${Buffer.from(`${ada.email}:${key}`).toString('base64')}`,
      });
      const { body: after } = await sign();
      const keys = [ada.apiKey, before.api_key, after.api_key];
      expect(await Promise.all(keys.map((key) => statusOf(withKey(key))))).toEqual([401, 401, 200]);
    });

    it('must be deactivated', async () => {
      const { status, body } = await reactivate(owner, ada);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'User is already active']);
    });

    it('must have a unique address', async () => {
      await deactivate(owner, ada);
      await test.addAccount(ada.email);
      const { status, body } = await reactivate(owner, ada);
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST', expect.stringContaining('Another user has the same e-mail address')],
      ]);
    });

    it('must have a unique name if the organization requires unique names', async () => {
      const unique = await test.addAccount(`unique${people}@example.com`, { fullName: `Unique ${people}` });
      await deactivate(owner, unique);
      await test.addAccount(`other${people}@example.com`, { fullName: `unique ${people}` });
      await test.ask(owner, 'PATCH', 'realm', { require_unique_names: 'true' });
      const { status, body } = await reactivate(owner, unique);
      await test.ask(owner, 'PATCH', 'realm', { require_unique_names: 'false' });
      expect([status, body.msg]).toEqual([
        400,
        'Unique names required in this organization: rename the other user with this name first.',
      ]);
    });

    it('cannot be a bot of a deactivated user', async () => {
      const bot = await ownedBot();
      await deactivate(owner, ada);
      const { status, body } = await reactivate(owner, bot);
      expect([status, body.msg]).toEqual([400, expect.stringContaining('reactivate the owner first')]);
      await reactivate(owner, ada);
      expect((await reactivate(owner, bot)).status).toBe(200);
      expect([await isActive(ada), await isActive(bot)]).toEqual([true, true]);
    });
  });

  describe.each([
    ['deactivating', 'DELETE', ''],
    ['reactivating', 'POST', '/reactivate'],
  ] as const)('%s', (_, method, suffix) => {
    it('is allowed only for administrators, whether or not the user exists', async () => {
      const member = await test.addAccount(`member${people}@example.com`, { role: roles.moderator });
      for (const whom of [ada.userId, 999_999, 'nobody@example.com']) {
        const { status, body } = await test.ask(member, method, `users/${whom}${suffix}`);
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'Insufficient permission']);
      }
    });

    it('an owner is allowed only for owners', async () => {
      const second = await test.addAccount(`second${people}@example.com`, { role: roles.owner });
      if (method === 'POST') await deactivate(owner, second);
      const path = `users/${second.userId}${suffix}`;
      const { status, body } = await test.ask(administrator, method, path);
      expect([status, body.code]).toEqual([400, 'UNAUTHORIZED_PRINCIPAL']);
      expect((await test.ask(owner, method, path)).status).toBe(200);
      if (method === 'POST') await deactivate(owner, second);
    });

    it('requires an existing user', async () => {
      const { status, body } = await test.ask(owner, method, `users/999999${suffix}`);
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'No such user']);
    });
  });
});
