import { beforeAll, describe, expect, it } from 'vitest';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const allow = (isAllowed: boolean) =>
    organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: isAllowed });
  const register = (fields: Record<string, string> = {}) =>
    organisation.server.ask(undefined, 'POST', 'register', fields);
  beforeAll(async () => {
    await allow(true);
    const add = (name: string, more: object) =>
      organisation.do('owner', 'POST', 'users/me/subscriptions', { subscriptions: [{ name }], ...more });
    await add('for everybody', { is_web_public: true });
    await add('for members', {});
    await add('for some', { invite_only: true });
    await add('from before', { is_web_public: true });
    const { stream_id } = await organisation.do('owner', 'GET', 'get_stream_id', { stream: 'from before' });
    await organisation.do('owner', 'DELETE', `streams/${stream_id}`);
  });

  describe('whoever registers without an account', () => {
    it('is told of the organisation and its web-public channels, and has no queue', async () => {
      const { status, body } = await register();
      expect(status).toBe(200);
      expect(body.server_web_public_streams_enabled).toBe(true);
      const { body: settings } = await organisation.server.ask(undefined, 'GET', 'server_settings');
      expect(settings.realm_web_public_access_enabled).toBe(true);
      expect(body).toMatchObject({
        ...{ queue_id: null, last_event_id: -1, zulip_feature_level: expect.any(Number) },
        ...{ realm_name: 'Example', streams: [{ name: 'for everybody', is_web_public: true }] },
      });
      const { db } = organisation.server.server.database;
      expect(await db.selectFrom('event_queues').select('queue_id').execute()).toEqual([]);
      for (const own of ['user_id', 'user_settings', 'subscriptions', 'unread_msgs', 'push_devices']) {
        expect(body).not.toHaveProperty(own);
      }
      expect(JSON.stringify(body)).not.toMatch(/for members|for some|from before/);
    });

    it('is told who there is without addresses and without what is said to members', async () => {
      const { body } = await register({ fetch_event_types: '["realm_user"]' });
      const users = body.realm_users as Record<string, unknown>[];
      expect(users).toHaveLength(Object.keys(organisation.accounts).length);
      for (const user of users) {
        expect(user).toMatchObject({ delivery_email: null, avatar_url: expect.stringMatching(/^https:/) });
        expect(user.date_joined).toMatch(/^\d{4}-\d\d-\d\d$/);
        expect(user).not.toHaveProperty('timezone');
      }
      expect(body).not.toHaveProperty('realm_name');
      expect(body).not.toHaveProperty('can_invite_others_to_realm');
    });

    it('is told of nobody but bots where people are not for everybody', async () => {
      const restrict = async (to: 'members' | 'everyone') =>
        organisation.do('owner', 'PATCH', 'realm', {
          can_access_all_users_group: { new: await organisation.roleGroup(to) },
        });
      await restrict('members');
      const { body } = await register({ fetch_event_types: '["realm_user"]' });
      await restrict('everyone');
      expect(body.realm_users).toMatchObject([{ user_id: organisation.id('bot') }]);
    });

    it.each([
      ['client_gravatar', 'client_external_avatar'],
      ['client_external_avatar', 'client_external_avatar'],
      ['include_subscribers', 'include_subscribers'],
    ])('may not ask for %s', async (name, said) => {
      const { status, body } = await register({ [name]: 'true' });
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST', `Invalid ${said}: must be false in requests without an account`],
      ]);
      expect((await register({ [name]: 'false' })).status).toBe(200);
    });

    it('is refused where the organisation wants accounts, and wherever credentials are wrong', async () => {
      await allow(false);
      const { status, body } = await register();
      await allow(true);
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
      const wrong = { ...organisation.accounts.member, authorization: 'Basic bm9ib2R5OnRoZXJl' };
      const answer = await organisation.server.ask(wrong, 'POST', 'register');
      expect([answer.status, answer.body.code]).toEqual([401, 'INVALID_API_KEY']);
    });
  });
});

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: false });

  it('somebody without an account reads nothing where the server offers no public access, whatever the organisation says', async () => {
    await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
    for (const [method, path] of [
      ['GET', 'users'],
      ['POST', 'register'],
    ] as const) {
      const { status, body } = await organisation.server.ask(undefined, method, path);
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
    }
    const { body: settings } = await organisation.server.ask(undefined, 'GET', 'server_settings');
    expect(settings.realm_web_public_access_enabled).toBe(false);
  });
});
