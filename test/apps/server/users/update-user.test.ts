import { roles } from '@waxwing/server';
import { describe, expect, it } from 'vitest';
import { addressVisibility } from '#server/people/users/address-visibility.js';
import { eachBackend } from '../../../support/test-databases.js';
import { sharedOrganisation } from '../organisation-under-test.js';
import { changesOfUsers } from './changes-of-users.js';

eachBackend((backend) => {
  const organisation = sharedOrganisation(backend);
  const { somebody, rowOf, set, patch, changed, refused, allow, restrictGuests } =
    changesOfUsers(organisation);

  describe('changing a user', () => {
    it('is allowed only for administrators and above, whether or not the user exists', async () => {
      const target = await somebody();
      for (const who of ['owner', 'administrator'] as const) {
        await changed(who, target, { full_name: `By ${who}` });
      }
      for (const who of ['moderator', 'member', 'guest', 'bot'] as const) {
        expect(await refused(who, target, { full_name: 'Other' })).toBe('Insufficient permission');
        for (const name of [target.email, 'nobody@example.com', '987654']) {
          const { body } = await organisation.ask(who, 'PATCH', `users/${name}`, { full_name: 'Other' });
          expect([body.code, body.msg]).toEqual(['BAD_REQUEST', 'Insufficient permission']);
        }
      }
    });

    it('finds the user by id, by address in any letter case, and by the placeholder of a hidden address', async () => {
      const target = await somebody();
      const dummy = `user${target.userId}@chat.example.com`;
      for (const name of [target.userId, target.email.toUpperCase(), dummy]) {
        await organisation.do('administrator', 'PATCH', `users/${name}`, {
          full_name: `Found as ${name}`.slice(0, 12),
        });
      }
      await set(target, { email_address_visibility: addressVisibility.administrators });
      await organisation.do('administrator', 'PATCH', `users/${target.email}`, {
        full_name: 'By real address',
      });
      expect((await rowOf(target)).full_name).toBe('By real address');
    });

    it('does not find the user by a real address that is hidden from the administrator', async () => {
      const target = await somebody();
      await set(target, { email_address_visibility: addressVisibility.nobody });
      const fields = { full_name: 'Other' };
      const hidden = await organisation.ask('owner', 'PATCH', `users/${target.email}`, fields);
      const unknown = await organisation.ask('owner', 'PATCH', 'users/nobody@example.com', fields);
      expect([hidden.status, hidden.body]).toEqual([unknown.status, unknown.body]);
      expect(hidden.body).toEqual({ result: 'error', msg: 'No such user', code: 'BAD_REQUEST' });
      await organisation.do('owner', 'PATCH', `users/user${target.userId}@chat.example.com`, fields);
      expect((await rowOf(target)).full_name).toBe('Other');
    });

    it('changes bots and deactivated users', async () => {
      const [bot, gone] = [await somebody({ isBot: true }), await somebody()];
      await set(gone, { is_active: 0 });
      for (const target of [bot, gone]) {
        await changed('administrator', target, { full_name: 'Renamed', role: roles.moderator });
        expect(await rowOf(target)).toMatchObject({ full_name: 'Renamed', role: 300 });
      }
    });

    it('does nothing and publishes no event if nothing changes', async () => {
      const target = await somebody();
      await allow(true);
      const events = await organisation.watch('owner');
      await changed('owner', target, {});
      await changed('owner', target, {
        full_name: ' Somebody ',
        role: roles.member,
        new_email: target.email,
      });
      expect(await events()).toEqual([]);
    });

    it('lists unknown parameters', async () => {
      const target = await somebody();
      const { body } = await patch('owner', target, { email: target.email, nickname: 'x' });
      expect(body.ignored_parameters_unsupported).toEqual(['email', 'nickname']);
    });

    it('changes nothing if one field is refused', async () => {
      const target = await somebody();
      await refused('owner', target, { full_name: 'Other', role: 200, new_email: 'other@example.com' });
      await refused('owner', target, { full_name: 'Other', role: 250 });
      await refused('owner', target, { full_name: '', role: 200 });
      await allow(true);
      await refused('owner', target, { full_name: 'Other', role: 200, new_email: 'owner@example.com' });
    });
  });

  describe('a role', () => {
    it('can be set by administrators to one of five values', async () => {
      const target = await somebody();
      for (const role of [600, 400, 300, 200]) {
        await changed('administrator', target, { role });
        expect((await rowOf(target)).role).toBe(role);
      }
    });

    it.each(['0', '150', '500', '-100', 'guest', '"200"', '200.0', ''])('is refused as %j', async (role) => {
      await refused('owner', await somebody({ role: roles.guest }), { role });
    });

    it('of owner can be given and taken only by owners', async () => {
      const [target, owner] = [await somebody(), await somebody({ role: roles.owner })];
      await refused('administrator', target, { role: roles.owner }, 'UNAUTHORIZED_PRINCIPAL');
      await refused('administrator', owner, { role: roles.member }, 'UNAUTHORIZED_PRINCIPAL');
      await changed('administrator', owner, { role: roles.owner, full_name: 'The same role' });
      await changed('owner', target, { role: roles.owner });
      await changed('owner', target, { role: roles.member });
      await changed('owner', owner, { role: roles.guest });
    });

    it('of owner cannot be taken from the only owner, not counting bots and deactivated owners', async () => {
      const { owner } = organisation.accounts;
      const [bot, gone] = [
        await somebody({ role: roles.owner, isBot: true }),
        await somebody({ role: roles.owner }),
      ];
      await set(gone, { is_active: 0 });
      expect(await refused('owner', owner, { role: roles.administrator })).toContain(
        'only organization owner',
      );
      await changed('owner', owner, { role: roles.owner });
      for (const other of [bot, gone]) await changed('owner', other, { role: roles.member });
    });

    it('of administrator or owner cannot be given to a guest, who must become a member first', async () => {
      const target = await somebody({ role: roles.guest });
      for (const role of [roles.administrator, roles.owner]) {
        expect(await refused('owner', target, { role, full_name: 'Other' })).toContain('Guests cannot be');
      }
      await changed('owner', target, { role: roles.member });
      await changed('owner', target, { role: roles.administrator });
    });

    it('moves the user from the old role’s groups to the new role’s groups', async () => {
      const target = await somebody();
      const [members, fullMembers, guests] = [
        await organisation.roleGroup('members'),
        await organisation.roleGroup('fullmembers'),
        await organisation.roleGroup('everyone'),
      ];
      const events = await organisation.watch('guest');
      await changed('administrator', target, { role: roles.guest });
      const user_ids = [target.userId];
      const member = (op: string, group_id: number) => ({ type: 'user_group', op, group_id, user_ids });
      expect(await events()).toEqual([
        { type: 'realm_user', op: 'update', person: { user_id: target.userId, role: 600 } },
        ...[members, fullMembers].sort((a, b) => a - b).map((id) => member('remove_members', id)),
        member('add_members', guests),
      ]);
      const path = `user_groups/${guests}/members/${target.userId}`;
      const { is_user_group_member: isMember } = await organisation.do('member', 'GET', path, {
        direct_member_only: true,
      });
      expect(isMember).toBe(true);
    });

    it('applies from the next request on', async () => {
      const target = await somebody();
      const rename = () =>
        organisation.server.ask(target, 'PATCH', `users/${organisation.id('second')}`, {
          full_name: 'Second',
        });
      expect((await rename()).status).toBe(400);
      await changed('owner', target, { role: roles.administrator });
      expect((await rename()).status).toBe(200);
    });
  });

  describe('a full name', () => {
    it('is trimmed, stored, and sent to all users in an event', async () => {
      const target = await somebody();
      const events = await organisation.watch('guest');
      await changed('administrator', target, { full_name: '  Zoë Ω 名前  ' });
      const person = { user_id: target.userId, full_name: 'Zoë Ω 名前' };
      expect(await events()).toEqual([{ type: 'realm_user', op: 'update', person }]);
    });

    it('has 1 to 100 characters, counted in code points', async () => {
      const target = await somebody();
      for (const full_name of ['x', 'x'.repeat(100), '🐦'.repeat(100)]) {
        await changed('administrator', target, { full_name });
        expect((await rowOf(target)).full_name).toBe(full_name);
      }
      expect(await refused('administrator', target, { full_name: 'x'.repeat(101) })).toContain('100');
    });

    it.each([
      '',
      '   ',
      'a*b',
      'a`b',
      'a\\b',
      'a>b',
      'a"b',
      'a@b',
      'a\nb',
      'a\u0007b',
      'a\u200bb',
      'a\u202eb',
      'Ada|12',
    ])('cannot be %j', async (full_name) => {
      await refused('owner', await somebody(), { full_name });
    });

    it('must be unique, ignoring case and width, if the organization requires unique names', async () => {
      const [one, other] = [await somebody(), await somebody()];
      await changed('administrator', one, { full_name: 'Ada Lovelace' });
      await changed('administrator', other, { full_name: 'ada lovelace' });
      await changed('administrator', other, { full_name: 'Other' });
      await organisation.do('owner', 'PATCH', 'realm', { require_unique_names: true });
      for (const full_name of ['ADA lovelace', 'Ａｄａ Lovelace']) {
        expect(await refused('owner', other, { full_name })).toContain('Unique names');
      }
      await changed('administrator', one, { full_name: 'ADA LOVELACE' });
    });

    it('is published for a bot as for a user, and not as a bot event', async () => {
      const bot = await somebody({ isBot: true });
      await set(bot, { bot_owner_id: organisation.id('member') });
      const told = await Promise.all(
        (['member', 'administrator', 'second'] as const).map((who) =>
          organisation.watch(who, { event_types: '["realm_bot","realm_user"]' }),
        ),
      );
      await changed('administrator', bot, { full_name: 'Robot' });
      const event = {
        type: 'realm_user',
        op: 'update',
        person: { user_id: bot.userId, full_name: 'Robot' },
      };
      expect(await Promise.all(told.map((events) => events()))).toEqual([[event], [event], [event]]);
    });

    it('is not published to clients that cannot see the user', async () => {
      const target = await somebody();
      await restrictGuests('members');
      const types = { event_types: '["realm_user"]' };
      const [guest, second] = [
        await organisation.watch('guest', types),
        await organisation.watch('second', types),
      ];
      await changed('administrator', target, { full_name: 'Unseen' });
      await changed('administrator', organisation.accounts.guest, { full_name: 'Guest themselves' });
      expect((await guest()).map((event) => (event as { person: object }).person)).toEqual([
        { user_id: organisation.id('guest'), full_name: 'Guest themselves' },
      ]);
      expect(await second()).toHaveLength(2);
    });
  });
});
