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

  describe('a client that registers without an account', () => {
    it('sees the organization and its web-public channels, and gets no queue', async () => {
      const { status, body } = await register();
      expect(status).toBe(200);
      expect(body.server_web_public_streams_enabled).toBe(true);
      const { body: settings } = await organisation.server.ask(undefined, 'GET', 'server_settings');
      expect(settings.realm_web_public_access_enabled).toBe(true);
      expect(body).toMatchObject({
        queue_id: null,
        last_event_id: -1,
        zulip_feature_level: expect.any(Number),
        realm_name: 'Example',
        streams: [{ name: 'for everybody', is_web_public: true }],
      });
      const { db } = organisation.server.server.database;
      expect(await db.selectFrom('event_queues').select('queue_id').execute()).toEqual([]);
      for (const own of ['user_id', 'user_settings', 'subscriptions', 'unread_msgs', 'push_devices']) {
        expect(body).not.toHaveProperty(own);
      }
      expect(JSON.stringify(body)).not.toMatch(/for members|for some|from before/);
      const messages = await organisation.server.ask(undefined, 'GET', 'messages', { anchor: 'newest' });
      expect(messages.body.code).toBe('UNAUTHORIZED');
    });

    it('sees users without addresses and without member-only fields', async () => {
      const { body } = await register({ fetch_event_types: '["realm_user"]' });
      const users = body.realm_users as Record<string, unknown>[];
      expect(users).toHaveLength(Object.keys(organisation.accounts).length);
      for (const user of users) {
        expect(user).toMatchObject({
          delivery_email: null,
          email: `user${user.user_id}@chat.example.com`,
          avatar_url: expect.stringMatching(/^https:/),
        });
        expect(user.date_joined).toMatch(/^\d{4}-\d\d-\d\d$/);
        expect(user).not.toHaveProperty('timezone');
      }
      expect(body).not.toHaveProperty('realm_name');
      expect(body).not.toHaveProperty('can_invite_others_to_realm');
    });

    it('sees only bots if the organization restricts who can see all users', async () => {
      const restrict = async (to: 'members' | 'everyone') =>
        organisation.do('owner', 'PATCH', 'realm', {
          can_access_all_users_group: { new: await organisation.roleGroup(to) },
        });
      await restrict('members');
      const { body } = await register({ fetch_event_types: '["realm_user"]' });
      await restrict('everyone');
      expect(body.realm_users).toMatchObject([{ user_id: organisation.id('bot') }]);
    });

    it('sees neither profile values nor profile fields', async () => {
      const { id } = await organisation.do('owner', 'POST', 'realm/profile_fields', {
        name: 'Telephone',
        field_type: 1,
      });
      await organisation.do('member', 'PATCH', 'users/me/profile_data', {
        data: [{ id, value: '0815' }],
      });
      const seenBy = async (who: 'member' | undefined) => {
        const account = who && organisation.accounts[who];
        const { body } = await organisation.server.ask(account, 'POST', 'register');
        const { body: listed } = await organisation.server.ask(account, 'GET', 'users', {
          include_custom_profile_fields: 'true',
        });
        return {
          fields: body.custom_profile_fields,
          told: [body, listed].map((each) => JSON.stringify(each)),
        };
      };
      for (const each of (await seenBy('member')).told) expect(each).toMatch(/0815/);
      const { fields, told } = await seenBy(undefined);
      expect(fields).toEqual([]);
      for (const each of told) expect(each).not.toMatch(/0815|profile_data|Telephone/);
    });

    it('sees folders and special channels only if they are web-public, and no welcome message', async () => {
      const made = async (name: string) =>
        (await organisation.do('owner', 'POST', 'channel_folders/create', { name })).channel_folder_id;
      const idOf = async (stream: string) =>
        (await organisation.do('owner', 'GET', 'get_stream_id', { stream })).stream_id;
      const open = await idOf('for everybody');
      const folders = { open: await made('open folder'), hidden: await made('hidden folder') };
      await made('empty folder');
      await organisation.do('owner', 'PATCH', `streams/${open}`, { folder_id: folders.open });
      for (const name of ['for members', 'for some']) {
        await organisation.do('owner', 'PATCH', `streams/${await idOf(name)}`, { folder_id: folders.hidden });
      }
      await organisation.do('owner', 'PATCH', 'realm', {
        welcome_message_custom_text: 'The door code is 4711.',
        moderation_request_channel_id: await idOf('for some'),
        new_stream_announcements_stream_id: await idOf('for members'),
        signup_announcements_stream_id: open,
      });
      const { body } = await register();
      expect(body).toMatchObject({
        channel_folders: [{ id: folders.open, name: 'open folder' }],
        realm_moderation_request_channel_id: -1,
        realm_new_stream_announcements_stream_id: -1,
        realm_signup_announcements_stream_id: open,
      });
      expect(body).not.toHaveProperty('realm_welcome_message_custom_text');
      const told = await organisation.do('member', 'POST', 'register');
      expect(told.channel_folders).toHaveLength(3);
      expect(told.realm_welcome_message_custom_text).toBe('The door code is 4711.');
    });

    it.each([
      ['client_gravatar', 'client_external_avatar'],
      ['client_external_avatar', 'client_external_avatar'],
      ['include_subscribers', 'include_subscribers'],
    ])('cannot set %s', async (name, said) => {
      const { status, body } = await register({ [name]: 'true' });
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST', `Invalid ${said}: must be false in requests without an account`],
      ]);
      expect((await register({ [name]: 'false' })).status).toBe(200);
    });

    it('is refused if the organization requires accounts, or if the credentials are wrong', async () => {
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

  it('a client without an account is refused if the server offers no public access, even if the organization allows it', async () => {
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
