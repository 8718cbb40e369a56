import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deactivateByAddress } from '#server/membership/user-administration/change-activity.js';
import type { ServerDatabase } from '#server/tables.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { alwaysThere, fieldsByType } from './register-answer-shape.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const database = (): ServerDatabase => organisation.server.server.database;
  const register = (who: 'owner' | 'member' | 'guest' | 'bot', parameters: Record<string, unknown> = {}) =>
    organisation.do(who, 'POST', 'register', parameters);
  const ids = (users: unknown) => (users as { user_id: number }[]).map(({ user_id }) => user_id);

  describe('the register response', () => {
    it.each(['owner', 'member', 'guest', 'bot'] as const)(
      'has every field that clients need, for the %s',
      async (who) => {
        const all: z.ZodRawShape = Object.assign({}, alwaysThere, ...Object.values(fieldsByType));
        const body = await register(who);
        expect(z.looseObject(all).safeParse(body).error?.issues).toBeUndefined();
      },
    );

    it.each(Object.keys(fieldsByType))(
      'has only the fields of %s if the client fetches only this type',
      async (type) => {
        const body = await register('member', { event_types: [], fetch_event_types: type.split(',') });
        const shape = z.looseObject({ ...alwaysThere, ...fieldsByType[type] });
        expect(shape.safeParse(body).error?.issues).toBeUndefined();
        const others = Object.values(fieldsByType).flatMap((fields) =>
          Object.keys(fields).filter((name) => !Object.hasOwn(fieldsByType[type] ?? {}, name)),
        );
        const always = ['user_id', 'event_queue_longpoll_timeout_seconds'];
        expect(Object.keys(body).filter((name) => others.includes(name) && !always.includes(name))).toEqual(
          [],
        );
      },
    );

    it('has unread messages only for clients that fetch messages and flags', async () => {
      const fetched = async (...types: string[]) =>
        'unread_msgs' in (await register('member', { event_types: types }));
      expect(await fetched('message')).toBe(false);
      expect(await fetched('update_message_flags')).toBe(false);
      expect(await fetched('update_message_flags', 'message')).toBe(true);
    });

    it('ignores unknown types and capabilities', async () => {
      const body = await register('member', {
        event_types: ['realm_user', 'from_the_future'],
        client_capabilities: { notification_settings_null: true, from_the_future: 7, empty_topic_name: true },
      });
      expect(body.realm_users).toBeDefined();
      expect(body.realm_uuid).toBeUndefined();
    });

    it('accepts the parameters of stock clients', async () => {
      const body = await register('member', {
        apply_markdown: true,
        client_gravatar: true,
        include_subscribers: true,
        slim_presence: true,
        unheard_of: 1,
      });
      expect(body.ignored_parameters_unsupported).toEqual(['unheard_of']);
    });

    it.each([
      ['event_types', 'realm'],
      ['event_types', [1]],
      ['fetch_event_types', { realm: true }],
      ['client_capabilities', []],
      ['client_capabilities', { user_list_incomplete: 'yes' }],
      ['client_gravatar', 'yes'],
      ['apply_markdown', 'True'],
      ['include_subscribers', 'some'],
      ['slim_presence', 1],
    ])('refuses %s %o', async (name, value) => {
      const { status, body } = await organisation.ask('member', 'POST', 'register', { [name]: value });
      expect([status, body.code]).toEqual([400, 'BAD_REQUEST']);
      expect(body.msg).toContain(name);
    });
  });

  describe('users in the register response', () => {
    it('are active and deactivated users, ordered by ID, including the caller', async () => {
      const gone = await organisation.server.addAccount('gone@example.com');
      await deactivateByAddress(database(), () => organisation.server.now, gone.email);
      const body = await register('member', { client_gravatar: false });
      expect(ids(body.realm_non_active_users)).toEqual([gone.userId]);
      expect(ids(body.realm_users)).toEqual([...ids(body.realm_users)].sort((a, b) => a - b));
      expect(ids(body.realm_users)).toContain(organisation.id('bot'));
      const [own] = (body.realm_users as { user_id: number; avatar_url: unknown }[]).filter(
        ({ user_id }) => user_id === organisation.id('member'),
      );
      expect(own?.avatar_url).toMatch(/^https:/);
      expect(body).toMatchObject({
        email: 'member@example.com',
        delivery_email: 'member@example.com',
        is_moderator: false,
        is_guest: false,
        can_create_public_streams: true,
        can_create_web_public_streams: false,
      });
      const withPictures = await register('member');
      expect((withPictures.realm_users as { avatar_url: unknown }[])[0]?.avatar_url).toBeNull();
      expect(await register('owner')).toMatchObject({ is_owner: true, is_admin: true, is_moderator: true });
      expect(await register('guest')).toMatchObject({ is_guest: true, can_subscribe_other_users: false });
    });

    it('have placeholders for users hidden from a guest, unless the client supports an incomplete list', async () => {
      const restrict = async (to: 'members' | 'everyone') =>
        organisation.do('owner', 'PATCH', 'realm', {
          can_access_all_users_group: { new: await organisation.roleGroup(to) },
        });
      await restrict('members');
      const all = await register('guest');
      const owner = (all.realm_users as { user_id: number }[]).find(
        ({ user_id }) => user_id === organisation.id('owner'),
      );
      expect(owner).toMatchObject({
        full_name: 'Unknown user',
        email: `user${organisation.id('owner')}@chat.example.com`,
        delivery_email: null,
        role: 400,
        profile_data: {},
      });
      const few = await register('guest', { client_capabilities: { user_list_incomplete: true } });
      await restrict('everyone');
      expect(ids(few.realm_users)).toEqual([organisation.id('guest'), organisation.id('bot')]);
    });
  });

  describe('the queue of a register response', () => {
    it('continues where the response ends: each change is in exactly one of the two', async () => {
      const { server } = organisation;
      const rounds = 12;
      let number = 0;
      const change = async () => {
        number += 1;
        await organisation.do('owner', 'PATCH', 'realm', { description: `number ${number}` });
      };
      for (let round = 0; round < rounds; round++) {
        const [body] = await Promise.all([
          register('member', { event_types: ['realm'], fetch_event_types: ['realm'] }),
          change(),
          change(),
        ]);
        const query = {
          queue_id: String(body.queue_id),
          last_event_id: String(body.last_event_id),
          dont_block: 'true',
        };
        const { body: polled } = await server.ask(organisation.accounts.member, 'GET', 'events', query);
        const told = (polled.events as { data: { realm_description?: string; description?: string } }[]).map(
          ({ data }) => data.description,
        );
        // All descriptions in order, starting with the description in the response.
        const seen = [body.realm_description, ...told];
        expect(new Set(seen).size).toBe(seen.length);
        const { realm_description: last } = await register('member', { fetch_event_types: ['realm'] });
        expect(seen.at(-1)).toBe(last);
      }
    });
  });
});
