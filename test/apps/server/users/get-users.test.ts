import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ServerDatabase } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { usersOnWire } from './users-on-wire.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend, { offersWebPublicChannels: true });
  const database = (): ServerDatabase => organisation.server.server.database;

  beforeAll(async () => {
    const { db } = database();
    const { member, bot } = organisation.accounts;
    await db.updateTable('users').set({ bot_owner_id: member.userId }).where('id', '=', bot.userId).execute();
  });

  const { list, read, show, idsOf, restrictGuests } = usersOnWire(organisation);

  afterEach(async () => {
    await show('member', 'everyone');
    await restrictGuests('everyone');
    await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: false });
  });

  describe('listing users', () => {
    it('returns every user and bot, ordered by id, with the fields of the contract', async () => {
      const users = await list('owner');
      expect(idsOf(users)).toEqual([...idsOf(users)].sort((a, b) => Number(a) - Number(b)));
      expect(users).toHaveLength(Object.keys(organisation.accounts).length);
      expect(users.find(({ user_id }) => user_id === organisation.id('member'))).toEqual({
        user_id: organisation.id('member'),
        email: 'member@example.com',
        delivery_email: 'member@example.com',
        full_name: 'Somebody',
        date_joined: '2026-03-11T12:00+00:00',
        is_active: true,
        is_owner: false,
        is_admin: false,
        is_guest: false,
        is_bot: false,
        is_imported_stub: false,
        is_deleted: false,
        bot_type: null,
        role: 400,
        timezone: '',
        avatar_url: null,
        avatar_version: 1,
      });
    });

    it('returns each role, and marks owners also as administrators', async () => {
      const roles = await Promise.all(
        (['owner', 'administrator', 'moderator', 'member', 'guest'] as const).map(async (whom) => {
          const { role, is_owner, is_admin, is_guest } = await read('member', whom);
          return [role, is_owner, is_admin, is_guest];
        }),
      );
      expect(roles).toEqual([
        [100, true, true, false],
        [200, false, true, false],
        [300, false, false, false],
        [400, false, false, false],
        [600, false, false, true],
      ]);
    });

    it('returns a type and an owner only for bots', async () => {
      const bot = await read('member', 'bot');
      expect([bot.is_bot, bot.bot_type, bot.bot_owner_id]).toEqual([true, 1, organisation.id('member')]);
    });

    it('includes deactivated users as inactive', async () => {
      const { userId } = await organisation.server.addAccount('gone@example.com');
      const { db } = database();
      await db.updateTable('users').set({ is_active: 0 }).where('id', '=', userId).execute();
      const [gone] = await list('guest', { user_ids: [userId] });
      expect([gone?.user_id, gone?.is_active]).toEqual([userId, false]);
      await db.deleteFrom('user_group_members').where('user_id', '=', userId).execute();
      await db.deleteFrom('users').where('id', '=', userId).execute();
    });

    it('returns only the users in user_ids, each once, and omits unknown ids', async () => {
      const [member, guest] = [organisation.id('member'), organisation.id('guest')];
      const wanted = [guest, member, member, 987_654, -3];
      expect(idsOf(await list('second', { user_ids: wanted }))).toEqual([member, guest]);
      expect(await list('second', { user_ids: [] })).toEqual([]);
    });

    it.each([
      ['user_ids', '["9"]'],
      ['user_ids', '[1.5]'],
      ['user_ids', '9'],
      ['user_ids', 'nine'],
      ['client_external_avatar', '1'],
      ['client_gravatar', 'yes'],
      ['include_custom_profile_fields', 'True'],
    ])('refuses %s as %s', async (name, value) => {
      const { status, body } = await organisation.ask('member', 'GET', 'users', { [name]: value });
      expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', expect.stringContaining(name)]);
    });

    it('lists unknown parameters', async () => {
      const { ignored_parameters_unsupported: ignored } = await organisation.do('member', 'GET', 'users', {
        zebra: 1,
        client_gravatar: true,
        ant: 'x',
      });
      expect(ignored).toEqual(['ant', 'zebra']);
    });

    it('returns profile data only for humans, and only if requested', async () => {
      const asked = { include_custom_profile_fields: true };
      expect((await read('member', 'second', asked)).profile_data).toEqual({});
      expect(await read('member', 'bot', asked)).not.toHaveProperty('profile_data');
    });

    it('returns more users than fit into one chunk, each once', async () => {
      const { db } = database();
      const rows = Array.from({ length: 1100 }, (_, index) => ({
        email: `many${index}@example.com`,
        email_lower: `many${index}@example.com`,
        full_name: `Many ${index}`,
        role: 400,
        is_bot: 0,
        bot_owner_id: null,
        api_key_hash: '',
        is_active: 1,
        created_at: organisation.server.now,
      }));
      await db.insertInto('users').values(rows).execute();
      const ids = idsOf(await list('member'));
      expect([ids.length, new Set(ids).size]).toEqual([1107, 1107]);
      await db.deleteFrom('users').where('full_name', 'like', 'Many %').execute();
    });
  });

  describe('the picture of a user', () => {
    const providerUrl = /^https:\/\/secure\.gravatar\.com\/avatar\/[0-9a-f]{32}\?d=identicon&version=1$/;

    it('is computed by the client if the flag is on under either of its names, which is the default', async () => {
      expect((await read('guest', 'member')).avatar_url).toBeNull();
      for (const name of ['client_external_avatar', 'client_gravatar']) {
        expect((await read('guest', 'member', { [name]: true })).avatar_url).toBeNull();
        expect((await read('guest', 'member', { [name]: false })).avatar_url).toMatch(providerUrl);
      }
      const both = { client_external_avatar: true, client_gravatar: true };
      const { body } = await organisation.ask('guest', 'GET', 'users', both);
      expect(body.code).toBe('REQUEST_CONFUSING_VAR');
    });

    it('has a URL if it was uploaded, regardless of the flag', async () => {
      const avatar_url = '/user_avatars/1/abc.png';
      const member = organisation.id('member');
      const store = (url: string | null) =>
        database().db.updateTable('users').set({ avatar_url: url }).where('id', '=', member).execute();
      await store(avatar_url);
      for (const client_external_avatar of [true, false]) {
        expect((await read('guest', 'member', { client_external_avatar })).avatar_url).toBe(avatar_url);
      }
      await store(null);
    });

    it('has a URL without a digest of the address when the address is hidden', async () => {
      const shown = (await read('guest', 'member', { client_external_avatar: false })).avatar_url;
      await show('member', 'nobody');
      for (const client_external_avatar of [true, false]) {
        const { avatar_url } = await read('guest', 'member', { client_external_avatar });
        expect(avatar_url).toMatch(providerUrl);
        expect(avatar_url).not.toBe(shown);
      }
    });
  });

  describe('the address of a user', () => {
    const readers = ['owner', 'administrator', 'moderator', 'second', 'guest'] as const;

    it.each([
      ['everyone', readers],
      ['members', ['owner', 'administrator', 'moderator', 'second']],
      ['moderators', ['owner', 'administrator', 'moderator']],
      ['administrators', ['owner', 'administrator']],
      ['nobody', []],
    ] as const)(
      'is visible to the users that its setting %s allows; others see a placeholder address',
      async (to, may) => {
        await show('member', to);
        const hidden = `user${organisation.id('member')}@chat.example.com`;
        for (const who of readers) {
          const { email, delivery_email } = await read(who, 'member');
          const isReader = (may as readonly string[]).includes(who);
          expect([who, delivery_email]).toEqual([who, isReader ? 'member@example.com' : null]);
          expect(email).toBe(to === 'everyone' ? 'member@example.com' : hidden);
          const found = await organisation.ask(who, 'GET', 'users/Member@EXAMPLE.com');
          expect([who, found.status]).toEqual([who, isReader ? 200 : 400]);
          expect((await organisation.ask(who, 'GET', `users/${hidden}`)).status).toBe(200);
        }
        expect((await read('member', 'member')).delivery_email).toBe('member@example.com');
      },
    );

    it('is visible to everyone if the user is a bot', async () => {
      await show('bot', 'nobody');
      const { email, delivery_email } = await read('guest', 'bot');
      expect([email, delivery_email]).toEqual(['bot@example.com', 'bot@example.com']);
    });
  });

  describe('guests', () => {
    it('see all users, or only bots and themselves if the organization allows only members to see all users', async () => {
      expect(await list('guest')).toHaveLength(Object.keys(organisation.accounts).length);
      await restrictGuests('members');
      const seen = [organisation.id('guest'), organisation.id('bot')].sort((a, b) => a - b);
      expect(idsOf(await list('guest'))).toEqual(seen);
      expect(idsOf(await list('guest', { user_ids: [organisation.id('member')] }))).toEqual([]);
      expect(await list('member')).toHaveLength(Object.keys(organisation.accounts).length);
      const unseen = await organisation.ask('guest', 'GET', `users/${organisation.id('member')}`);
      const unknown = await organisation.ask('guest', 'GET', 'users/987654');
      expect([unseen.status, unseen.body]).toEqual([unknown.status, unknown.body]);
      expect((await organisation.ask('guest', 'GET', `users/${organisation.id('bot')}`)).status).toBe(200);
    });
  });

  describe('a client without an account', () => {
    it('is refused, unless the organization has public access', async () => {
      const { status, body, headers } = await organisation.server.ask(undefined, 'GET', 'users');
      expect([status, body.code]).toEqual([401, 'UNAUTHORIZED']);
      expect(headers['www-authenticate']).toBe('Basic realm="zulip"');
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
      expect(await list(undefined)).toHaveLength(Object.keys(organisation.accounts).length);
    });

    it('sees no real address, no time zone and only the day of joining', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
      const users = await list(undefined);
      const shown = users.map(({ delivery_email, date_joined }) => [delivery_email, date_joined]);
      expect(shown).toEqual(Object.keys(organisation.accounts).map(() => [null, '2026-03-11']));
      expect(users.filter((user) => 'timezone' in user)).toEqual([]);
    });

    it('sees only bots if guests cannot see all users', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
      await restrictGuests('members');
      expect(idsOf(await list(undefined))).toEqual([organisation.id('bot')]);
    });

    it('is still refused with wrong credentials, and for all other requests', async () => {
      await organisation.do('owner', 'PATCH', 'realm', { enable_spectator_access: true });
      const authorization = `Basic ${Buffer.from(`member@example.com:${'x'.repeat(64)}`).toString('base64')}`;
      const wrong = await organisation.server.send({
        method: 'GET',
        url: '/api/v1/users',
        headers: { authorization },
      });
      expect([wrong.status, wrong.body.code]).toEqual([401, 'INVALID_API_KEY']);
      for (const path of ['users/me', `users/${organisation.id('member')}`]) {
        expect((await organisation.server.ask(undefined, 'GET', path)).status).toBe(401);
      }
    });
  });

  describe('one user', () => {
    it('is returned by ID as in the list, with the avatar and profile data as requested', async () => {
      const path = `users/${organisation.id('second')}`;
      const { user } = await organisation.do('member', 'GET', path);
      expect(user).toEqual(await read('member', 'second'));
      const asked = { client_gravatar: false, include_custom_profile_fields: true };
      expect((await organisation.do('member', 'GET', path, asked)).user).toEqual(
        await read('member', 'second', asked),
      );
    });

    it.each(['987654', 'nobody@example.com', 'user987654@chat.example.com', 'Somebody', '-1'])(
      'is refused as %s',
      async (name) => {
        const { status, body } = await organisation.ask('owner', 'GET', `users/${name}`);
        expect([status, body.code, body.msg]).toEqual([400, 'BAD_REQUEST', 'No such user']);
      },
    );

    it.each([
      ['client_external_avatar', '0'],
      ['include_custom_profile_fields', 'no'],
    ])('is refused with %s as %s', async (name, value) => {
      const { body } = await organisation.ask('owner', 'GET', `users/${organisation.id('bot')}`, {
        [name]: value,
      });
      expect([body.code, body.msg]).toEqual(['BAD_REQUEST', expect.stringContaining(name)]);
    });
  });
});
