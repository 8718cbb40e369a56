import type { Kysely } from 'kysely';
import { afterEach, describe, expect, it } from 'vitest';
import { renameRecentView } from '#server/people/user-settings/user-setting-tables.js';
import { userSettings } from '#server/people/user-settings/user-settings.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  type Who = Parameters<typeof organisation.id>[0];
  const settingsOf = async (who: Who) =>
    (await organisation.do(who, 'POST', 'register', { fetch_event_types: ['user_settings'] }))
      .user_settings as Record<string, unknown>;
  const set = (who: Who, parameters: Record<string, unknown>) =>
    organisation.do(who, 'PATCH', 'settings', parameters);

  afterEach(() => set('member', { email_address_visibility: 1, timezone: '' }));

  describe('settings of a user', () => {
    it('are defaults until the user sets them', async () => {
      expect(await settingsOf('member')).toMatchObject({
        twenty_four_hour_time: false,
        emojiset: 'google',
        color_scheme: 1,
        timezone: '',
        web_home_view: 'inbox',
        enable_stream_push_notifications: false,
        enable_sounds: true,
        email_address_visibility: 1,
        available_notification_sounds: expect.arrayContaining(['zulip']),
      });
      const own = await organisation.watch('member', { event_types: '["user_settings"]' });
      const others = await organisation.watch('owner', { event_types: '["user_settings"]' });
      const wish = {
        twenty_four_hour_time: true,
        emojiset: 'text',
        color_scheme: 3,
        default_language: 'pt-br',
      };
      await set('member', { ...wish, enter_sends: false });
      expect(await settingsOf('member')).toMatchObject(wish);
      expect(await settingsOf('owner')).toMatchObject({ twenty_four_hour_time: false });
      expect(await own()).toEqual(
        expect.arrayContaining(
          Object.entries(wish).map(([property, value]) => ({
            type: 'user_settings',
            op: 'update',
            property,
            value,
          })),
        ),
      );
      expect(await own()).toHaveLength(4);
      expect(await others()).toEqual([]);
      await set('member', { twenty_four_hour_time: false, emojiset: '"google"', color_scheme: 1 });
      await set('member', { default_language: 'en' });
      const rows = await organisation.server.server.database.db
        .selectFrom('user_settings')
        .selectAll()
        .execute();
      expect(rows).toEqual([]);
    });

    it.each(
      Object.entries(userSettings).map(([name, { default: value }]) => [
        name,
        typeof value === 'boolean' ? 'yes' : typeof value === 'number' ? 1_000_000 : '<b>',
      ]),
    )('refuse %s with the value %s', async (name, value) => {
      const { status, body } = await organisation.ask('member', 'PATCH', 'settings', {
        enter_sends: true,
        [name]: value,
      });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(name);
      expect((await settingsOf('member')).enter_sends).toBe(false);
    });

    it.each([
      ['timezone', 'Mars/Olympus'],
      ['timezone', '+01:00'],
      ['timezone', 'x'.repeat(41)],
      ['email_address_visibility', 6],
      ['email_address_visibility', 'everyone'],
    ])('refuse %s with the value %s', async (name, value) => {
      const { status, body } = await organisation.ask('member', 'PATCH', 'settings', { [name]: value });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(name);
    });

    it('cannot be set for other users, and a request to do so changes no user', async () => {
      const before = await settingsOf('owner');
      const target_users = { user_ids: [organisation.id('member')], skip_if_already_edited: false };
      const { status, body } = await organisation.ask('owner', 'PATCH', 'settings', {
        target_users,
        enter_sends: true,
      });
      expect([status, body.code, body.msg]).toEqual([
        ...[400, 'BAD_REQUEST'],
        "Invalid target_users: this server changes only the requester's own settings",
      ]);
      expect(await settingsOf('owner')).toEqual(before);
    });

    it('accept the view of recent conversations under its older name', async () => {
      await set('member', { web_home_view: 'recent_topics' });
      expect((await settingsOf('member')).web_home_view).toBe('recent');
      const database = organisation.server.server.database;
      const row = { user_id: organisation.id('second'), name: 'web_home_view', value: '"recent_topics"' };
      await database.write(({ db }) => db.insertInto('user_settings').values(row).execute());
      await database.write(({ db }) => renameRecentView(db as unknown as Kysely<unknown>));
      expect((await settingsOf('second')).web_home_view).toBe('recent');
      await set('member', { web_home_view: 'inbox' });
    });

    it('cannot be set by bots', async () => {
      const { status, body } = await organisation.ask('bot', 'PATCH', 'settings', { enter_sends: true });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
    });

    it('publish a new time zone to all clients', async () => {
      const others = await organisation.watch('guest', { event_types: '["realm_user"]' });
      await set('member', { timezone: 'Europe/Paris' });
      await set('member', { timezone: '"Europe/Paris"' });
      expect(await others()).toEqual([
        ...[
          {
            type: 'realm_user',
            op: 'update',
            person: { user_id: organisation.id('member'), timezone: 'Europe/Paris' },
          },
        ],
      ]);
      expect((await organisation.do('member', 'GET', 'users/me')).timezone).toBe('Europe/Paris');
      expect((await settingsOf('member')).timezone).toBe('Europe/Paris');
    });
  });

  describe('the visibility of an address', () => {
    const addressFor = async (who: Who) => {
      const { user } = await organisation.do(who, 'GET', `users/${organisation.id('member')}`);
      return (user as { delivery_email: string | null }).delivery_email;
    };
    const person = (fields: object) => ({
      type: 'realm_user',
      op: 'update',
      person: { user_id: organisation.id('member'), ...fields },
    });

    it('is published to users who gain or lose access', async () => {
      const dummy = `user${organisation.id('member')}@chat.example.com`;
      const watch = (who: Who) => organisation.watch(who, { event_types: '["realm_user"]' });
      const [owner, second, guest] = [await watch('owner'), await watch('second'), await watch('guest')];
      await set('member', { email_address_visibility: 3 });
      expect([await addressFor('owner'), await addressFor('second')]).toEqual(['member@example.com', null]);
      const shown = [
        person({ new_email: dummy }),
        person({
          avatar_source: 'G',
          avatar_url: expect.stringContaining('https:'),
          avatar_url_medium: expect.stringContaining('s=500'),
          avatar_version: 1,
        }),
      ];
      expect(await owner()).toEqual(shown);
      expect(await second()).toEqual([person({ delivery_email: null }), ...shown]);
      await set('member', { email_address_visibility: 2 });
      expect((await second()).slice(3)).toEqual([person({ delivery_email: 'member@example.com' })]);
      expect(await guest()).toEqual([person({ delivery_email: null }), ...shown]);
      await set('member', { email_address_visibility: 1 });
      expect((await guest()).slice(3, 5)).toEqual([
        person({ delivery_email: 'member@example.com' }),
        person({ new_email: 'member@example.com' }),
      ]);
    });
  });

  it('two concurrent changes are both applied', async () => {
    await Promise.all([
      set('member', { enter_sends: true, timezone: 'Asia/Tokyo' }),
      set('member', { high_contrast_mode: true, color_scheme: 2 }),
    ]);
    expect(await settingsOf('member')).toMatchObject({
      enter_sends: true,
      timezone: 'Asia/Tokyo',
      high_contrast_mode: true,
      color_scheme: 2,
    });
    await set('member', { enter_sends: false, high_contrast_mode: false, color_scheme: 1 });
  });
});
